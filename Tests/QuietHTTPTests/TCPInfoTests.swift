// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import QuietHTTP

/// `ConnectionTests` tests the counters of Linux.
@Suite("TCP counters")
struct TCPInfoTests {
  @Test("The acknowledged bytes are nil if the system does not count")
  func acknowledged() {
    #expect(TCPInfo(bytesAcknowledged: 4_096, bytesReceived: 300).acknowledged == 4_096)
    // A client that acknowledged nothing.
    #expect(TCPInfo(bytesAcknowledged: 0, bytesReceived: 300).acknowledged == 0)
    // A request was received, so a system with this value does not count.
    #expect(TCPInfo(bytesAcknowledged: 0, bytesReceived: 0).acknowledged == nil)
  }

  @Test("The time since the last receipt begins with a response and grows")
  func receipt() async throws {
    try await EchoServer().running { port async throws in
      // Far longer than the tolerance below.
      let pause: useconds_t = 200_000
      let found = try await Wire.aside { () -> (time: Int, least: Int, most: Int)? in
        let client = try WireConnection(port: port)
        defer { client.close() }
        // The connection itself is no receipt.
        usleep(pause)
        let start = Self.tickMilliseconds
        #expect(client.ask("GET /people/a HTTP/1.1\r\nHost: localhost\r\n\r\n")?.status == 200)
        let receipt = Self.tickMilliseconds
        usleep(pause)
        // Neither is data that this end sends.
        #expect(client.send(Data("G".utf8)))
        let beforeReading = Self.tickMilliseconds
        guard let information = client.information else { return nil }
        let end = Self.tickMilliseconds
        return (Int(information.millisecondsSinceReceipt), beforeReading - receipt, end - start)
      }
      guard let found else { return }
      // The two clocks may be a tick of up to 10 milliseconds apart at both ends of the interval.
      let tolerance = 40
      #expect(found.time >= found.least - tolerance)
      #expect(found.time <= found.most + tolerance)
    }
  }

  /// The milliseconds of the clock that the system moves in the same ticks as the times of its connections. On a busy
  /// machine the ticks come late, for both alike.
  private static var tickMilliseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }
}
