// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("HTTP client of the tests")
struct LoopbackClientTests {
  private static let page = "GET /people/a HTTP/1.1\r\nHost: localhost\r\n\r\n"

  private func get(port: Int) async throws -> LoopbackClient.Response {
    try await LoopbackClient.sendOnce("GET", "http://127.0.0.1:\(port)/people/a")
  }

  @Test("A single request has the status, all headers as text and the body of its response")
  func response() async throws {
    try await EchoServer().running { port async throws in
      let response = try await self.get(port: port)
      #expect(response.status == 200 && response.text == "hello")
      let lines = response.headerText.lowercased().split(separator: "\n")
      #expect(lines.contains("content-length: 5"), "\(response.headerText)")
      #expect(lines.count >= response.headers.count)
    }
  }

  @Test("Without a server, or if it closes the connection, the status of a single request is 0")
  func unanswered() async throws {
    var freePort = 0
    try await EchoServer { $0.connectionsPerAddressMax = 1 }.running { port async throws in
      freePort = port
      let held = try await Wire.aside {
        let connection = try WireConnection(port: port)
        #expect(connection.ask(Self.page)?.status == 200)
        return connection
      }
      #expect(try await self.get(port: port).status == 0)
      held.close()
    }
    #expect(try await get(port: freePort).status == 0)
  }
}
