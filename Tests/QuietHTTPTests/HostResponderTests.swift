// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Servers with one listener")
struct HostResponderTests {
  private static func router(_ name: String) -> Router<QuietContext> {
    let router = Router.quiet(refusals: .plain, randomness: SystemRandomness())
    router.get("/name") { _, _ in name }
    return router
  }

  private static func server(_ router: Router<QuietContext>) -> QuietServer {
    QuietServer(
      router: router, host: "127.0.0.1", port: 0,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Runs a server `main` with the routes of `a` and `b`, and those of a server that cannot be created.
  private static func running(_ work: (Int) async throws -> Void) async throws {
    let hosted = [
      server(router("a")).hosted(at: ["a.example", "Codes.A.example"]),
      server(router("b")).hosted(at: ["b.example"]),
      HostedRoutes(unavailableAt: ["c.example"], randomness: SystemRandomness()),
    ]
    let main = QuietServer(
      router: router("main"), hosted: hosted, host: "127.0.0.1", port: 0,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { do { try await main.run() } catch is CancellationError {} }
      try await work(main.boundPort)
      group.cancelAll()
    }
  }

  private static func reply(
    to port: Int, target: String = "/name", headers: [String]
  ) async throws -> WireResponse {
    let lines = ["GET \(target) HTTP/1.1", "Connection: close"] + headers
    let request = lines.joined(separator: "\r\n") + "\r\n\r\n"
    return try WireResponse(try await Wire.exchange([Data(request.utf8)], port: port))
  }

  @Test(
    "The header Host chooses the server: exact names in any case, with any port, with a dot at the end",
    arguments: [
      ("a.example", "a"), ("A.Example", "a"), ("a.example:8080", "a"), ("a.example.", "a"),
      ("a.example.:443", "a"), ("codes.a.example", "a"), ("b.example", "b"), ("B.EXAMPLE:1", "b"),
      ("x.a.example", "main"), ("example", "main"), ("a.example..", "main"), ("", "main"),
      ("127.0.0.1", "main"), ("[::1]:80", "main"), ("a.example@b.example", "main"),
      ("a.example/", "main"), ("аexample", "main"),
    ])
  func host(name: String, expected: String) async throws {
    try await Self.running { port in
      let reply = try await Self.reply(to: port, headers: ["Host: \(name)"])
      #expect(reply.status == 400 || String(decoding: reply.body, as: UTF8.self) == expected)
      #expect(reply.status == 200 || expected == "main")
    }
  }

  @Test("No other header and no absolute target changes the server; two hosts are refused")
  func others() async throws {
    try await Self.running { port in
      for headers in [
        ["Host: a.example", "X-Forwarded-Host: b.example"],
        ["Host: a.example", "Forwarded: host=b.example"],
      ] {
        let reply = try await Self.reply(to: port, headers: headers)
        #expect(String(decoding: reply.body, as: UTF8.self) == "a", "\(headers)")
      }
      let absolute = try await Self.reply(
        to: port, target: "http://b.example/name", headers: ["Host: a.example"])
      #expect(String(decoding: absolute.body, as: UTF8.self) != "b")
      for hosts in [["a.example", "b.example"], ["b.example", "a.example"]] {
        let reply = try await Self.reply(to: port, headers: hosts.map { "Host: \($0)" })
        #expect(reply.status == 400)
      }
    }
  }

  @Test("The host of a server that cannot be created gets 503, and the others their pages")
  func unavailable() async throws {
    try await Self.running { port in
      for target in ["/name", "/", "/health", "/ready"] {
        let reply = try await Self.reply(to: port, target: target, headers: ["Host: c.example"])
        #expect(reply.status == 503, "\(target)")
      }
      for host in ["a.example", "b.example", "elsewhere"] {
        let reply = try await Self.reply(to: port, headers: ["Host: \(host)"])
        #expect(reply.status == 200)
      }
    }
  }
}
