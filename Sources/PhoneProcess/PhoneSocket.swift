// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Secrets
import StrictJSON
import TextEncodings
import UnixSockets

/// The socket of a running phone, `phone.socket` in its folder, through which commands reach it.
///
/// Only processes of the same user are served: the file has mode 0600, and the peer credentials are checked.
package struct PhoneSocket: Sendable {
  /// The name of the file.
  package static let name = "phone.socket"

  private let listener: UnixListener
  private let logger: Logger

  /// Listens in `folder`; `serve` answers the requests. The caller holds the lock of the folder.
  package init(in folder: URL, logger: Logger) throws(UnixSocketError) {
    listener = try UnixListener(at: folder.appendingPathComponent(Self.name).path)
    self.logger = logger
  }

  /// Recreates the file if it was removed.
  package func restore() {
    do throws(UnixSocketError) {
      if try listener.restore() { logger.warning("\(Self.name) was removed and recreated") }
    } catch {
      logger.warning("\(Self.name) was removed and cannot be recreated: \(error)")
    }
  }

  /// Serves requests until the task is cancelled, then removes the file. Requests in progress are cancelled.
  package func serve(
    _ perform: @escaping @Sendable (PhoneRequest) async -> PhoneReply
  ) async {
    defer { listener.stop() }
    await withTaskGroup(of: Void.self) { group in
      var count = 0
      for await connection in listener.connections {
        if count >= PhoneMessageLimit.requestsAtOnce {
          await group.next()
          count -= 1
        }
        group.addTask { await answer(connection, perform) }
        count += 1
      }
      group.cancelAll()
    }
  }

  private func answer(
    _ connection: UnixSocket, _ perform: @Sendable (PhoneRequest) async -> PhoneReply
  ) async {
    guard connection.peerUser == geteuid() else {
      logger.warning("rejected a request from another user")
      return
    }
    do {
      let reply = try await reply(to: connection, perform)
      try await UnixSocket.offThread {
        try PhoneMessage.send(
          reply, to: connection, before: .now + .seconds(PhoneMessageLimit.replySeconds))
      }
    } catch {
      // The command has ended, or the peer is not our command. A command reports the error itself.
      logger.debug("a request ended early", metadata: ["error": "\(error)"])
    }
  }

  private func reply(
    to connection: UnixSocket, _ perform: @Sendable (PhoneRequest) async -> PhoneReply
  ) async throws -> PhoneReply {
    do {
      let request = try await UnixSocket.offThread {
        try PhoneMessage.receiveRequest(
          from: connection, before: .now + .seconds(PhoneMessageLimit.requestSeconds))
      }
      return await perform(request)
    } catch let error as PhoneMessageError {
      return PhoneReply(.badInput, error.rawValue)
    }
  }
}

extension PhoneSocket {
  /// Asks the phone that runs on `folder`; `nil` if none is running.
  ///
  /// - Parameter seconds: The time in which the phone must answer; that of the operation if it is `nil`.
  /// - Throws: `UnixSocketError` if the phone does not answer, or `PhoneSocketError`.
  package static func ask(
    _ request: PhoneRequest, in folder: URL, seconds: Int? = nil
  ) async throws -> PhoneReply? {
    let path = folder.appendingPathComponent(name).path
    return try await UnixSocket.offThread {
      let socket: UnixSocket
      do {
        socket = try UnixSocket.connected(to: .file(path))
      } catch UnixSocketError.noListener {
        return nil
      }
      let start = ContinuousClock.now
      try PhoneMessage.send(
        request, to: socket, before: start + .seconds(PhoneMessageLimit.requestSeconds))
      return try PhoneMessage.receiveReply(
        from: socket, before: start + .seconds(seconds ?? request.operation.secondsMax))
    }
  }
}

/// The messages between a command and a running phone: one request and one reply per connection.
///
/// A message is one line of JSON. After the line of an upload follow the bytes of the PIN, as many as the line says.
/// A request of another version is rejected with advice.
enum PhoneMessage {
  /// The version of this format.
  static let version = 1

  private struct RequestLine: Codable {
    let version: Int
    let operation: PhoneOperation
    let start: PhoneStart
    let pinBytes: Int
  }

  private struct AnyLine: Decodable {
    let version: Int
  }

  private struct ReplyLine: Codable {
    let version: Int
    let reply: PhoneReply
  }

  // MARK: The command's side

  static func send(
    _ request: PhoneRequest, to socket: UnixSocket, before deadline: ContinuousClock.Instant
  ) throws {
    let line = RequestLine(
      version: version, operation: request.operation, start: request.start,
      pinBytes: request.pin.count)
    let bytes = try encoded(line)
    guard bytes.count <= PhoneMessageLimit.requestBytesMax else {
      throw PhoneSocketError.requestTooLong
    }
    try socket.send(bytes, before: deadline)
    try request.pin.withUnsafeBytes { try socket.send($0, before: deadline) }
  }

  static func receiveReply(
    from socket: UnixSocket, before deadline: ContinuousClock.Instant
  ) throws -> PhoneReply {
    let (line, _) = try receiveLine(
      from: socket, atMost: PhoneMessageLimit.replyBytesMax, before: deadline)
    guard let reply = JSONDecoder().decodeIfValid(ReplyLine.self, from: line) else {
      throw PhoneSocketError.unreadable
    }
    return reply.reply
  }

  // MARK: The phone's side

  /// - Throws: `UnixSocketError`, `PhoneSocketError`, or `PhoneMessageError` if the line is not a request.
  static func receiveRequest(
    from socket: UnixSocket, before deadline: ContinuousClock.Instant
  ) throws -> PhoneRequest {
    var (line, pin) = try receiveLine(
      from: socket, atMost: PhoneMessageLimit.requestBytesMax, before: deadline)
    defer { pin.zero() }
    let decoder = JSONDecoder()
    guard StrictJSONValidator.accepts(line) else { throw PhoneMessageError.malformed }
    guard let any = decoder.decodeIfValid(AnyLine.self, from: line), any.version == version else {
      throw PhoneMessageError.version
    }
    guard let request = decoder.decodeIfValid(RequestLine.self, from: line),
      (0...PhoneMessageLimit.pinBytesMax).contains(request.pinBytes),
      pin.count <= request.pinBytes
    else { throw PhoneMessageError.malformed }
    var missing = try socket.receive(exactly: request.pinBytes - pin.count, before: deadline)
    defer { missing.zero() }
    let (first, second) = (pin, missing)
    var result = PhoneRequest(
      request.operation,
      pin: ZeroingBytes(count: request.pinBytes) { bytes in
        bytes.copyBytes(from: first)
        UnsafeMutableRawBufferPointer(rebasing: bytes[first.count...]).copyBytes(from: second)
      })
    result.start = request.start
    return result
  }

  static func send(
    _ reply: PhoneReply, to socket: UnixSocket, before deadline: ContinuousClock.Instant
  ) throws {
    var bytes = try encoded(ReplyLine(version: version, reply: reply))
    if bytes.count > PhoneMessageLimit.replyBytesMax {
      let refusal = PhoneReply(
        .failed, "The result is too large for one answer: stop the phone and ask again.")
      bytes = try encoded(ReplyLine(version: version, reply: refusal))
    }
    try socket.send(bytes, before: deadline)
  }

  // MARK: Lines

  private static func encoded(_ line: some Encodable) throws -> [UInt8] {
    try JSONEncoder().encode(line) + [lineEnd]
  }

  /// A line without its end, and the bytes after it that arrived with it.
  ///
  /// - Throws: `PhoneSocketError.unreadable` if the line is longer than `limit`.
  private static func receiveLine(
    from socket: UnixSocket, atMost limit: Int, before deadline: ContinuousClock.Instant
  ) throws -> (line: Data, rest: [UInt8]) {
    var bytes: [UInt8] = []
    // Large enough for the line of an upload and its PIN, so that no reallocation leaves a copy of the PIN in memory.
    bytes.reserveCapacity(chunkBytes)
    defer { bytes.zero() }
    while true {
      var part = try socket.receive(atMost: chunkBytes, before: deadline)
      defer { part.zero() }
      guard !part.isEmpty else { throw UnixSocketError.closed }
      let searched = bytes.count
      bytes += part
      if let end = bytes[searched...].firstIndex(of: lineEnd) {
        return (Data(bytes[..<end]), Array(bytes[(end + 1)...]))
      }
      guard bytes.count <= limit else { throw PhoneSocketError.unreadable }
    }
  }

  private static let lineEnd = UInt8(ascii: "\n")
  private static let chunkBytes = 64 << 10
}

/// A message between a command and a running phone that has no readable form.
package enum PhoneSocketError: Error {
  /// The request is longer than its limit.
  case requestTooLong
  /// The message is not of the expected form or longer than its limit.
  case unreadable
}

/// A request that the phone cannot perform, with the reason for the command.
enum PhoneMessageError: String, Error {
  /// It is not JSON of the expected form.
  case malformed =
    "The phone does not understand the request: use the program of the running phone."
  /// It is of another version.
  case version =
    "The running phone is of another version than this command: restart it, or use its program."
}

/// Limits of the messages between a command and a running phone.
package enum PhoneMessageLimit {
  /// The size of a request, in bytes: a batch of scans.
  package static let requestBytesMax = 4 << 20
  /// The size of a reply, in bytes.
  package static let replyBytesMax = 16 << 20
  /// The length of a typed PIN, in bytes.
  package static let pinBytesMax = 256
  /// The beacons in one request of `hear`; longer files are sent in several requests.
  package static let beaconsPerRequest = 10_000
  /// The time in which a request must have arrived, in seconds.
  package static let requestSeconds = 30
  /// The time in which the command must have read the reply, in seconds.
  package static let replySeconds = 30
  /// The requests that are served at once.
  package static let requestsAtOnce = 8
}
