// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A POST request over a plain socket, for clients that never finish their body or send too much.
public struct RawPost: Sendable {
  /// The response.
  public struct Answer: Sendable {
    /// The status; 0 if the timeout expired or the server closed the connection without a response.
    public var status = 0
    /// The values by lower-case name.
    public var headers: [String: String] = [:]
    /// The body.
    public var body = Data()
  }

  private let port: Int
  private let path: String
  private let headers: [String: String]

  /// A request to `path`, with additional `headers`.
  public init(port: Int, path: String, headers: [String: String] = [:]) {
    self.port = port
    self.path = path
    self.headers = headers
  }

  /// Sends `body` with a content length of `announced`, and reads one response. A response that arrives while the body
  /// is sent is read at once.
  public func answer(sending body: Data, announced: Int? = nil) async throws -> Answer {
    let head = head(length: announced ?? body.count)
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { [port] in
        continuation.resume(with: Result { try Self.exchange(head + body, port: port) })
      }
    }
  }

  private func head(length: Int) -> Data {
    let own = [
      "host": "localhost", "content-type": "application/json", "content-length": "\(length)",
    ]
    let lines = own.merging(headers) { $1 }.map { "\($0): \($1)\r\n" }.joined()
    return Data("POST \(path) HTTP/1.1\r\n\(lines)\r\n".utf8)
  }

  private static func exchange(_ bytes: Data, port: Int) throws -> Answer {
    let socket = try LocalSocket.connected(to: port)
    defer { close(socket) }
    var (unsent, received) = (bytes[...], Data())
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var silences = 0
    while silences < silencesMax {
      let wanted = Int16(POLLIN) | (unsent.isEmpty ? 0 : Int16(POLLOUT))
      var state = pollfd(fd: socket, events: wanted, revents: 0)
      guard poll(&state, 1, 15_000) > 0 else {
        silences += 1
        continue
      }
      if state.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { return Answer() }
        received.append(contentsOf: buffer.prefix(count))
        if let answer = answer(in: received) { return answer }
      } else {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let sent = unsent.prefix(1 << 16).withUnsafeBytes {
          send(socket, $0.baseAddress, $0.count, flags)
        }
        unsent = sent > 0 ? unsent.dropFirst(sent) : unsent.prefix(0)
      }
    }
    return Answer()
  }

  /// The number of 15-second intervals without a byte before the timeout. Intervals are counted because the test and
  /// the server may be suspended for a while.
  private static let silencesMax = Patience.seconds / 15

  /// The response, if it is complete.
  private static func answer(in bytes: Data) -> Answer? {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    var answer = Answer()
    answer.status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      answer.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    answer.body = bytes[end.upperBound...]
    let length = answer.headers["content-length"].flatMap { Int($0) } ?? 0
    return answer.body.count < length ? nil : answer
  }
}
