// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("Connections of one address")
struct ConnectionCountsTests {
  private static let page = "GET /people/a HTTP/1.1\r\nHost: localhost\r\n\r\n"

  /// A connection that was served, or nil if the server closed it.
  private func served(
    port: Int, from source: String? = nil
  ) async throws -> WireConnection? {
    try await Wire.aside {
      let connection = try WireConnection(port: port, from: source)
      if connection.ask(Self.page)?.status == 200 { return connection }
      connection.close()
      return nil
    }
  }

  /// A server that allows each address `count` connections, with a long idle timeout by default.
  private func server(
    atMost count: Int, idleSeconds: Int = 3_600, trusting proxies: TrustedProxies = .none
  ) -> EchoServer {
    EchoServer(trustedProxies: proxies) {
      $0.connectionsPerAddressMax = count
      $0.idleSeconds = idleSeconds
    }
  }

  @Test(
    "Connections up to the limit are served, one more is closed, and another address is served")
  func limit() async throws {
    let echo = server(atMost: 3)
    try await echo.running { port async throws in
      var held: [WireConnection] = []
      for _ in 0..<3 { held.append(try #require(try await served(port: port))) }
      for _ in 0..<5 { #expect(try await served(port: port) == nil) }
      held.append(try #require(try await served(port: port, from: "127.0.0.2")))
      // Open connections are still served.
      let first = held[0]
      #expect(try await Wire.aside { first.ask(Self.page)?.status } == 200)
      for connection in held { connection.close() }
    }
  }

  @Test("A connection that the client closes is no longer counted")
  func freed() async throws {
    let echo = server(atMost: 1)
    try await echo.running { port async throws in
      for _ in 0..<3 {
        let held = try #require(try await self.place(port: port))
        #expect(try await served(port: port) == nil)
        held.close()
      }
    }
  }

  @Test("A connection that the server closes after the idle timeout is no longer counted")
  func freedByServer() async throws {
    let echo = server(atMost: 1, idleSeconds: 1)
    try await echo.running { port async throws in
      let idle = try #require(try await self.place(port: port))
      #expect(try await Wire.aside { idle.receive() } == Data())
      let last = try #require(try await self.place(port: port))
      for connection in [idle, last] { connection.close() }
    }
  }

  /// A connection that is served as soon as the server has noticed the end of the previous one.
  private func place(port: Int) async throws -> WireConnection? {
    for _ in 0..<(Patience.seconds * 100) {
      if let connection = try await served(port: port) { return connection }
      try await Task.sleep(for: .milliseconds(10))
    }
    return nil
  }

  @Test("Connections of a trusted proxy are not counted")
  func proxies() async throws {
    let proxies = try #require(TrustedProxies(["127.0.0.1"]))
    let echo = server(atMost: 1, trusting: proxies)
    try await echo.running { port async throws in
      var held: [WireConnection] = []
      for _ in 0..<4 { held.append(try #require(try await served(port: port))) }
      held.append(try #require(try await served(port: port, from: "127.0.0.2")))
      #expect(try await served(port: port, from: "127.0.0.2") == nil)
      for connection in held { connection.close() }
    }
  }

  @Test("Connections are counted up to the limit, and an address without connections is forgotten")
  func counts() throws {
    let counts = ConnectionCounts(countMax: 2, trustedProxies: .none)
    let prefix = try #require(counts.prefix(of: NumericAddress("192.0.2.1")))
    #expect(
      [counts.begin(prefix), counts.begin(prefix), counts.begin(prefix)] == [true, true, false])
    #expect(counts.addressCount == 1)
    counts.end(prefix)
    #expect([counts.begin(prefix), counts.begin(prefix)] == [true, false])
    for _ in 0..<2 { counts.end(prefix) }
    #expect(counts.addressCount == 0)
    counts.end(prefix)
    #expect(
      [counts.begin(prefix), counts.begin(prefix), counts.begin(prefix)] == [true, true, false])
  }

  @Test("IPv4 is counted by the whole address, mapped or not, and IPv6 by the first 64 bits")
  func prefixes() throws {
    let counts = ConnectionCounts(
      countMax: 1, trustedProxies: try #require(TrustedProxies(["10.0.0.0/8"])))
    func prefix(_ text: String) -> AddressPrefix? { counts.prefix(of: NumericAddress(text)) }
    #expect(prefix("192.0.2.1") == prefix("::ffff:192.0.2.1"))
    #expect(prefix("192.0.2.1") != prefix("192.0.2.2"))
    #expect(prefix("2001:db8::1") == prefix("2001:db8::ffff:0:0:1"))
    #expect(prefix("2001:db8::1") != prefix("2001:db8:0:1::1"))
    #expect(prefix("10.1.2.3") == nil)
    #expect(counts.prefix(of: nil) == nil)
  }
}
