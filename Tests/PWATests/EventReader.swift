// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PWA
import Synchronization
import TestSupport
import TextEncodings

/// Reads the stream of events of a website, as a page does.
final class EventReader: Sendable {
  private let socket: Int32
  private let received = Mutex(Data())
  private let hasEnded = Mutex(false)

  init(_ site: RunningWebsite, headers: [String: String] = [:]) throws {
    socket = try LocalSocket.connected(to: site.port)
    let all = ["Host": "127.0.0.1:\(site.port)"].merging(site.cookie) { $1 }
      .merging(headers) { $1 }
    let lines = all.map { "\($0): \($1)\r\n" }.joined()
    let request = Data("GET /firebreak/events HTTP/1.1\r\n\(lines)\r\n".utf8)
    _ = request.withUnsafeBytes {
      Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        received.withLock { $0.append(contentsOf: buffer.prefix(count)) }
      }
      hasEnded.withLock {
        $0 = true
        close(socket)
      }
    }
  }

  /// Closes the page. After the end of the stream, the descriptor may belong to another socket.
  func stop() {
    hasEnded.withLock { if !$0 { shutdown(socket, Int32(SHUT_RDWR)) } }
  }

  /// True if the server or `stop()` has ended the stream.
  var isOver: Bool { hasEnded.withLock { $0 } }

  var text: String { String(decoding: received.withLock { $0 }, as: UTF8.self) }

  /// The pushes so far: number and content.
  var pushes: [BridgePush] {
    text.split { $0 == "\n" || $0 == "\r\n" }.filter { $0.hasPrefix("data: ") }.compactMap { line in
      guard let event = JSONValue(text: String(line.dropFirst(6))),
        let type = event["type"]?.integer, case .string(let data) = event["data"],
        let content = JSONValue(text: data)
      else { return nil }
      return BridgePush(type, content)
    }
  }

  /// Waits for the push of a message after the first `skipped`; a stream begins with a push of 51.
  func push(_ type: Int, after skipped: Int = 0) async throws -> BridgePush? {
    let found = { self.pushes.filter { $0.type == type } }
    try await Patience.until { found().count > skipped || isOver }
    return found().dropFirst(skipped).first
  }

  /// Waits for a push that fulfils `isWanted`; `nil` if the stream ends before.
  func push(where isWanted: (BridgePush) -> Bool) async throws -> BridgePush? {
    try await Patience.until { pushes.contains(where: isWanted) || isOver }
    return pushes.first(where: isWanted)
  }
}
