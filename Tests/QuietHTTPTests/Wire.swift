// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import QuietHTTP

/// Sends and receives bytes over a real socket, so that tests see the exact HTTP messages.
enum Wire {
  /// Sends `pieces` with `pause` seconds between them and returns all bytes until the server closes the
  /// connection. It gives up after a long silence.
  static func exchange(_ pieces: [Data], port: Int, pause: Double = 0) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      // On its own thread, because blocking here must not block the server.
      Thread.detachNewThread {
        continuation.resume(with: Result { try blockingExchange(pieces, port: port, pause: pause) })
      }
    }
  }

  private static func blockingExchange(_ pieces: [Data], port: Int, pause: Double) throws -> Data {
    let connection = try WireConnection(port: port)
    defer { connection.close() }
    for (index, piece) in pieces.enumerated() {
      if index > 0 { usleep(UInt32(pause * 1_000_000)) }
      // The server may have responded before it closed the connection.
      guard connection.send(piece) else { break }
    }
    var reply = Data()
    while let part = connection.receive(), !part.isEmpty { reply.append(part) }
    return reply
  }
}

/// A client connection. Every call blocks: use `Wire.aside`.
final class WireConnection: Sendable {
  private let socket: Int32

  /// Connects, optionally from the address `source`. `receiveBytes` limits the receive buffer of the system.
  init(port: Int, from source: String? = nil, receiveBytes: Int32? = nil) throws {
    socket = try LocalSocket.connected(to: port, from: source, receiveBytes: receiveBytes)
  }

  func close() { Foundation.close(socket) }

  /// The values of the connection; nil if the system does not report them.
  var information: TCPInfo? {
    var information = TCPInfo(bytesAcknowledged: 0, bytesReceived: 0)
    var size = socklen_t(MemoryLayout<TCPInfo>.size)
    let status = getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &information, &size)
    return status == 0 && information.acknowledged != nil ? information : nil
  }

  /// Returns `false` if the server has closed the connection.
  func send(_ bytes: Data) -> Bool {
    bytes.withUnsafeBytes {
      Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    } == bytes.count
  }

  /// Sends `bytes` again and again with pauses until the server closes the connection. Returns `false` if it
  /// does not.
  func isClosed(whileSending bytes: Data, every microseconds: UInt32) -> Bool {
    let end = ContinuousClock.now + .seconds(Patience.seconds)
    while ContinuousClock.now < end {
      usleep(microseconds)
      if !send(bytes) { return true }
    }
    return false
  }

  /// The next bytes: empty if the server has closed the connection, nil after a long silence.
  func receive(atMost count: Int = 1 << 16) -> Data? {
    var buffer = [UInt8](repeating: 0, count: count)
    var received = recv(socket, &buffer, count, 0)
    // An interrupted call is not a closed connection.
    while received < 0, errno == EINTR { received = recv(socket, &buffer, count, 0) }
    if received < 0 { return errno == EAGAIN ? nil : Data() }
    return Data(buffer.prefix(received))
  }

  /// Sends a request and reads one complete response, or returns nil if there is none.
  func ask(_ request: String) -> WireResponse? {
    guard send(Data(request.utf8)) else { return nil }
    var bytes = Data()
    while let part = receive(), !part.isEmpty {
      bytes.append(part)
      guard let response = try? WireResponse(bytes), let text = response.headers["content-length"],
        let length = Int(text), response.body.count >= length
      else { continue }
      return response
    }
    return nil
  }
}

extension Wire {
  /// Runs blocking work on its own thread, because it must not block the server.
  static func aside<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
  }
}

/// A received HTTP response.
struct WireResponse {
  let status: Int
  /// The names in lower case, in the received order.
  let headerNames: [String]
  let headers: [String: String]
  let body: Data

  init(_ bytes: Data) throws {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else {
      throw CocoaError(.fileReadCorruptFile)
    }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    status = Int(lines[0].split(separator: " ")[1]) ?? 0
    let fields = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
    }
    headerNames = fields.map(\.0)
    headers = Dictionary(fields, uniquingKeysWith: { first, _ in first })
    body = Data(bytes[end.upperBound...])
  }

  /// The top-level strings in the JSON.
  var json: [String: String] {
    (try? JSONDecoder().decode([String: String].self, from: body)) ?? [:]
  }
}

/// A POST request.
struct Post {
  var path = "/echo"
  var contentType = "application/json"
  var headers: [String] = []
  /// The value of `Content-Length`, or nil for the length of the body.
  var announced: Int?
  var body: Data

  init(_ body: String) {
    self.body = Data(body.utf8)
  }

  /// A JSON body of exactly `count` bytes.
  init(bytes count: Int) {
    let frame = #"{"word":""}"#.utf8.count
    self.init(#"{"word":"\#(String(repeating: "x", count: count - frame))"}"#)
  }

  /// All headers, the standard ones first.
  var headerLines: [String] {
    [
      "Host: localhost", "Content-Type: \(contentType)",
      "Content-Length: \(announced ?? body.count)", "Connection: close",
    ] + headers
  }

  var head: Data {
    let lines = ["POST \(path) HTTP/1.1"] + headerLines
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  func response(port: Int) async throws -> WireResponse {
    try await WireResponse(Wire.exchange([head + body], port: port))
  }
}
