// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuietHTTP

/// Many clients that send half of a body, and the uploads beside them.
@Suite("Unfinished bodies")
struct UnfinishedBodiesTests {
  private static let addresses = (1...5).map { "198.51.100.\($0)" }

  /// Half-sent requests of all addresses, directly from 127.0.1.x or with the header of a proxy.
  private func halfSent(
    count: Int, port: Int, isProxied: Bool
  ) throws -> [WireConnection] {
    try (0..<count).flatMap { _ in
      try Self.addresses.enumerated().map { index, address in
        var post = Post(#"{"word":"hello"}"#)
        if isProxied { post.headers = ["X-Forwarded-For: \(address)"] }
        let connection = try WireConnection(
          port: port, from: isProxied ? nil : "127.0.1.\(index + 1)")
        // The server may have closed it.
        _ = connection.send(post.head + post.body.prefix(8))
        return connection
      }
    }
  }

  @Test(
    "Beside half-sent bodies of five addresses that take all connections, honest uploads are served",
    arguments: [false, true])
  func flood(isProxied: Bool) async throws {
    let proxies = isProxied ? TrustedProxies(["127.0.0.0/8"]) : nil
    let echo = EchoServer(trustedProxies: proxies ?? .none) {
      $0.connectionsMax = 100
      $0.bodies.perNetworkMax = 4
      // The rate must not be what helps.
      $0.bodies.checkSeconds = Patience.seconds
    }
    try await echo.running { port async throws in
      let connections = try await Wire.aside {
        try halfSent(count: 30, port: port, isProxied: isProxied)
      }
      for number in 0..<7 {
        var post = Post(#"{"word":"hello"}"#)
        if isProxied { post.headers = ["X-Forwarded-For: 192.0.2.\(number)"] }
        #expect(try await post.response(port: port).status == 200)
      }
      #expect(echo.effects.count == 7)
      for connection in connections { connection.close() }
    }
  }

  @Test("A body that sends too few bytes a second is refused with 408 before its time is up")
  func tooSlow() async throws {
    let echo = EchoServer {
      $0.bodies.checkSeconds = 1
      $0.bodies.bytesPerSecondMin = 512
    }
    try await echo.running { port async throws in
      let post = Post(#"{"word":"hello"}"#)
      let response = try await WireResponse(
        Wire.exchange([post.head + post.body.prefix(8)], port: port))
      #expect(response.status == 408)
    }
  }

  @Test("Of too many bodies of a network the most silent, then the slowest is closed, no young one")
  func order() throws {
    let timer = ManualTimer()
    var limits = BodyRateLimits()
    limits.perNetworkMax = 3
    let bodies = UnfinishedBodies(limits, now: { timer.now })
    let closed = ClosedBodies()
    let address = NumericAddress("192.0.2.1")
    func begin(_ name: String, _ client: NumericAddress? = nil) -> Int {
      bodies.begin(client ?? address) { closed.add(name) }
    }
    let (silent, slow, fast) = (begin("silent"), begin("slow"), begin("fast"))
    _ = begin("other network", NumericAddress("192.0.2.2"))
    bodies.received(1_000, silent)
    // All are young.
    _ = begin("young")
    #expect(closed.names.isEmpty)
    timer.pass(to: .seconds(5))
    bodies.received(10, slow)
    bodies.received(5_000, fast)
    _ = begin("a")
    #expect(closed.names == ["young"])
    _ = begin("b")
    #expect(closed.names == ["young", "silent"])
    _ = begin("c")
    #expect(closed.names == ["young", "silent", "slow"])
  }

  @Test(
    "If all networks together have too many bodies, one of the largest network is closed, also a young one"
  )
  func manyNetworks() throws {
    let timer = ManualTimer()
    let bodies = UnfinishedBodies(countMax: 4, now: { timer.now })
    let closed = ClosedBodies()
    for (number, host) in [1, 2, 2, 3, 4].enumerated() {
      let body = bodies.begin(NumericAddress("192.0.2.\(host)")) { closed.add("\(number)") }
      bodies.received(host == 2 ? 1_000 - number : 1, body)
    }
    #expect(closed.names == ["2"] && bodies.count == 4)
    // Each network has one body now, and a young one of them is not taken for a flood.
    let last = bodies.begin(NumericAddress("192.0.2.5")) { closed.add("5") }
    #expect(closed.names == ["2"] && bodies.count == 5)
    timer.pass(to: .seconds(1))
    bodies.received(1, last)
    bodies.trim(last)
    bodies.trim(last)
    #expect(closed.names.count == 2 && bodies.count == 4)
  }

  @Test(
    "Of equally large networks the most silent body, then the slowest, then the oldest is closed")
  func ties() throws {
    for _ in 0..<20 {
      let timer = ManualTimer()
      let bodies = UnfinishedBodies(countMax: 5, now: { timer.now })
      let closed = ClosedBodies()
      func begin(_ name: String, _ host: Int) -> Int {
        bodies.begin(NumericAddress("192.0.2.\(host)")) { closed.add(name) }
      }
      let (fast, slow) = (begin("fast", 1), begin("slow", 2))
      let (equal, silent, small) = (begin("equal", 2), begin("silent", 1), begin("small", 3))
      timer.pass(to: .seconds(5))
      for (body, bytes) in [(fast, 5_000), (slow, 10), (equal, 10)] { bodies.received(bytes, body) }
      bodies.received(9_000, silent)
      timer.pass(to: .seconds(8))
      // The smallest network has the most silent and slowest body.
      for (body, bytes) in [(fast, 5_000), (slow, 10), (equal, 10)] { bodies.received(bytes, body) }
      _ = begin("a", 4)
      #expect(closed.names == ["silent"])
      _ = begin("b", 4)
      #expect(closed.names == ["silent", "slow"])
      bodies.end(small)
    }
  }

  @Test("Beside slow bodies of many networks, young ones of a larger network are not closed")
  func youngOfLargerNetwork() throws {
    let timer = ManualTimer()
    let bodies = UnfinishedBodies(countMax: 512, now: { timer.now })
    let closed = ClosedBodies()
    for number in 0..<512 {
      let client = "2001:db8:\(String(number / 2, radix: 16))::\(number % 2)"
      let body = bodies.begin(NumericAddress(client)) { closed.add("slow") }
      bodies.received(number, body)
    }
    timer.pass(to: .seconds(3))
    for round in 1...2 {
      for _ in 0..<3 { _ = bodies.begin(NumericAddress("192.0.2.1")) { closed.add("young") } }
      #expect(closed.names == Array(repeating: "slow", count: 3 * round))
    }
    #expect(bodies.count == 512)
  }

  @Test("New bodies of one network in any number leave room for a body of another one")
  func youngFlood() throws {
    let timer = ManualTimer()
    let bodies = UnfinishedBodies(countMax: 8, now: { timer.now })
    let closed = ClosedBodies()
    let honest = bodies.begin(NumericAddress("192.0.2.1")) { closed.add("honest") }
    for number in 0..<100 {
      _ = bodies.begin(NumericAddress("198.51.100.1")) { closed.add("\(number)") }
    }
    #expect(bodies.count == 8 && bodies.isUnfinished(honest))
    #expect(closed.names.count == 93 && !closed.names.contains("honest"))
  }

  @Test("A rate below the minimum between two checks is too slow, also after a fast start")
  func rate() {
    var limits = BodyRateLimits()
    (limits.checkSeconds, limits.bytesPerSecondMin) = (4, 512)
    let bodies = UnfinishedBodies(limits)
    let number = bodies.begin(NumericAddress("192.0.2.1")) {}
    bodies.received(100_000, number)
    #expect(!bodies.isTooSlow(number))
    bodies.received(2_048, number)
    #expect(!bodies.isTooSlow(number))
    bodies.received(2_047, number)
    #expect(bodies.isTooSlow(number))
    bodies.end(number)
    #expect(bodies.count == 0)
  }
}

/// The names of closed bodies, in their order.
private final class ClosedBodies: Sendable {
  private let state = Mutex<[String]>([])

  var names: [String] { state.withLock { $0 } }

  func add(_ name: String) { state.withLock { $0.append(name) } }
}
