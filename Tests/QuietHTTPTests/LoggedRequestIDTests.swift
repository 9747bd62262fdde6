// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("The identity of a request in the log")
struct LoggedRequestIDTests {
  /// The identities in the lines of the log that contain `text`, after one request to `path`.
  private func identities(
    _ sent: String?, path: String = "/people/x", trusted: [String] = ["127.0.0.1"], in text: String
  ) async throws -> [String] {
    let echo = EchoServer(trustedProxies: try #require(TrustedProxies(trusted)))
    try await echo.running { port in
      _ = try await LoopbackClient.send(
        "GET", "http://127.0.0.1:\(port)\(path)", headers: sent.map { [("X-Request-ID", $0)] } ?? []
      )
    }
    return echo.log.lines.filter { $0.contains(text) }.map { line in
      line.firstMatch(of: #/"request": ([^,\]]+)/#).map { String($0.output.1) } ?? ""
    }
  }

  @Test("That of a trusted proxy is in the line of the request and in that of its error")
  func proxied() async throws {
    let id = "0123456789abcdef"
    #expect(try await identities(id, in: "GET /people") == [id])
    let broken = try await identities(id, path: "/broken", in: "route failed")
    let line = try await identities(id, path: "/broken", in: "GET /broken")
    #expect(broken == [id] && line == [id])
  }

  @Test("Of a client that is no trusted proxy it is not used: each request gets a random one")
  func untrusted() async throws {
    let id = "0123456789abcdef"
    let first = try await identities(id, trusted: [], in: "GET /people")
    let second = try await identities(id, trusted: [], in: "GET /people")
    #expect(first.count == 1 && first[0].count == 36 && first != second && first != [id])
  }

  @Test(
    "One that is too short, too long or of other characters is not used",
    arguments: [
      ("1234567", false), ("12345678", true), (String(repeating: "a", count: 64), true),
      (String(repeating: "a", count: 65), false), ("12345678 x", false), ("1234567\"8", false),
      ("12345678é", false),
    ])
  func limits(id: String, isUsed: Bool) async throws {
    let found = try await identities(id, in: "GET /people")
    #expect((found == [id]) == isUsed && found.first?.isEmpty == false)
  }

  @Test("No line of a request has an address")
  func noAddress() async throws {
    let found = try await identities(nil, in: "127.0.0.1")
    // The library logs the server's own address at the start, with no request.
    let requests = found.filter { !$0.isEmpty }
    #expect(requests == [])
  }
}
