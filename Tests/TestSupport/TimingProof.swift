// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Measures if an observer of response times can tell two kinds of requests apart.
///
/// `make prove` sets the number of samples of each kind; without it the proofs are skipped.
public enum TimingProof {
  /// The largest area under the curve that counts as chance.
  public static let areaMax = 0.55

  /// The number of samples of each kind; nil if the proofs are skipped.
  public static var samples: Int? {
    ProcessInfo.processInfo.environment["FIREBREAK_PROVE_SAMPLES"].flatMap { Int($0) }
  }

  /// The area under the curve of an observer who tells `one` from `other` by their times: 0.5 is chance.
  public static func area(_ one: [Double], _ other: [Double]) -> Double {
    let all = (one.map { ($0, true) } + other.map { ($0, false) }).sorted { $0.0 < $1.0 }
    var (wins, othersBelow, index) = (0.0, 0.0, 0)
    while index < all.count {
      var end = index
      while end < all.count, all[end].0 == all[index].0 { end += 1 }
      let ties = all[index..<end]
      let (ones, others) = (Double(ties.count { $0.1 }), Double(ties.count { !$0.1 }))
      wins += ones * (othersBelow + others / 2)
      othersBelow += others
      index = end
    }
    let area = wins / (Double(one.count) * Double(other.count))
    return max(area, 1 - area)
  }

  /// Sends `requests` one after the other over one connection, in random order.
  ///
  /// - Returns: The seconds from the end of each request to the end of its response, by kind.
  public static func times<Kind: Hashable & Sendable>(
    of requests: [(kind: Kind, bytes: Data)], port: Int
  ) async throws -> [Kind: [Double]] {
    let requests = requests.shuffled()
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try measured(requests, port: port) })
      }
    }
  }

  /// A POST request of the connection.
  public static func request(_ path: String, _ body: Data, headers: [String: String] = [:]) -> Data
  {
    let own = [
      "host": "localhost", "content-type": "application/json", "content-length": "\(body.count)",
    ]
    let lines = own.merging(headers) { $1 }.map { "\($0): \($1)\r\n" }.joined()
    return Data("POST \(path) HTTP/1.1\r\n\(lines)\r\n".utf8) + body
  }

  private static func measured<Kind: Hashable>(
    _ requests: [(kind: Kind, bytes: Data)], port: Int
  ) throws -> [Kind: [Double]] {
    let socket = try LocalSocket.connected(to: port)
    defer { close(socket) }
    var times: [Kind: [Double]] = [:]
    for request in requests {
      let start = ContinuousClock.now
      try exchange(request.bytes, socket)
      times[request.kind, default: []].append((ContinuousClock.now - start) / .seconds(1))
    }
    return times
  }

  private static func exchange(_ bytes: Data, _ socket: Int32) throws {
    let sent = bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard sent == bytes.count else { throw POSIXError(.EPIPE) }
    var (received, buffer) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
    while !isComplete(received) {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { throw POSIXError(.ECONNRESET) }
      received.append(contentsOf: buffer.prefix(count))
    }
  }

  private static func isComplete(_ response: Data) -> Bool {
    guard let end = response.range(of: Data("\r\n\r\n".utf8)) else { return false }
    let head = String(decoding: response[..<end.lowerBound], as: UTF8.self).lowercased()
    let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
      .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
    return response.count - response.distance(from: response.startIndex, to: end.upperBound)
      >= length ?? 0
  }
}
