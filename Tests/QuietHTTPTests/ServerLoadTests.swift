import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("Load of a server")
struct ServerLoadTests {
  private final class Client: Sendable {}

  private let timer = ManualTimer()
  private let load: ServerLoad
  private let clients = (0..<1_000).map { _ in Client() }

  init() {
    let timer = timer
    load = ServerLoad(inWorkMax: 500, now: { timer.now })
  }

  private func begin(_ numbers: Range<Int>) {
    for number in numbers { load.begin(ObjectIdentifier(clients[number])) }
  }

  private func end(_ numbers: Range<Int>) {
    for number in numbers { load.end(ObjectIdentifier(clients[number])) }
  }

  @Test("Requests in work up to the limit are allowed, and one more is too many")
  func inWork() {
    begin(0..<500)
    #expect(!load.isTooHigh)
    begin(500..<501)
    #expect(load.isTooHigh)
    end(0..<1)
    #expect(!load.isTooHigh)
    // An end without a beginning does not count.
    end(0..<1)
    #expect(load.inWorkCount == 500)
  }

  @Test("The load is too high if the finished requests show that a new one would wait too long")
  func wait() {
    begin(0..<100)
    // 100 requests a second, with 100 in work: one second.
    timer.pass(to: .milliseconds(500))
    end(0..<50)
    begin(100..<150)
    #expect(load.isTooHigh)
    // 250 a second: less than half a second.
    begin(150..<350)
    end(50..<250)
    timer.pass(to: .seconds(1))
    #expect(!load.isTooHigh)
  }

  @Test("A burst is not refused before the rate is known, and few requests never are")
  func burst() {
    begin(0..<400)
    timer.pass(to: .milliseconds(499))
    #expect(!load.isTooHigh)
    end(0..<(400 - QuietLimit.busyRequestsMin + 1))
    timer.pass(to: .seconds(60))
    #expect(!load.isTooHigh)
  }

  @Test("If nothing is finished for long, new requests are refused until it is again")
  func stall() {
    begin(0..<QuietLimit.busyRequestsMin)
    timer.pass(to: .seconds(10))
    #expect(load.isTooHigh)
    end(0..<1)
    #expect(!load.isTooHigh)
  }

  @Test("What was finished long ago counts less and less")
  func decay() {
    begin(0..<100)
    // 1,000 a second for ten seconds, then nothing.
    for second in 1...10 {
      for _ in 0..<10 {
        begin(100..<200)
        end(100..<200)
      }
      timer.pass(to: .seconds(second))
      #expect(!load.isTooHigh)
    }
    timer.pass(to: .seconds(30))
    _ = load.isTooHigh
    timer.pass(to: .seconds(60))
    #expect(load.isTooHigh)
  }

  @Test(
    "A request above the limit gets 503 with Retry-After, in the form of its route, and has no effect"
  )
  func refused() async throws {
    let echo = EchoServer { $0.requestsInWorkMax = 2 }
    try await echo.running { port async throws in
      var held: [WireConnection] = []
      for number in 1...2 {
        let post = Post(#"{"word":"never"}"#)
        let client = try await Wire.aside {
          let client = try WireConnection(port: port)
          #expect(client.send(post.head + post.body))
          return client
        }
        held.append(client)
        try await Patience.until { echo.effects.count == number }
      }
      let refused = try await Post(#"{"word":"hello"}"#).response(port: port)
      #expect(refused.status == 503)
      #expect(refused.headers["retry-after"] == "\(QuietLimit.retryAfterSeconds)")
      let header = "retry-after: \(QuietLimit.retryAfterSeconds)\r\n"
      #expect(refused.body.count + header.utf8.count == ResponseBucket.bytes[0])
      #expect(echo.effects.count == 2)
      let page = "GET /people/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      let get = try await WireResponse(Wire.exchange([Data(page.utf8)], port: port))
      #expect(get.status == 503)
      for client in held { client.close() }
    }
  }
}
