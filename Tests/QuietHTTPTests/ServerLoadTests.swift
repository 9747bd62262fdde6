// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("Load of a server")
struct ServerLoadTests {
  private final class Client: Sendable {}

  private final class Begun: Sendable {
    private let state = Mutex<[Int]>([])
    var numbers: [Int] { state.withLock { $0 } }
    func append(_ number: Int) { state.withLock { $0.append(number) } }
  }

  private let timer = ManualTimer()
  private let load: ServerLoad
  private let clients = (0..<1_000).map { _ in Client() }

  init() {
    let timer = timer
    load = ServerLoad(inWorkMax: 500, now: { timer.now })
  }

  /// True if one more request would be refused.
  private var isOverloaded: Bool { load.isOverloaded(for: ObjectIdentifier(load)) }

  private func begin(_ numbers: Range<Int>) {
    for number in numbers { load.begin(ObjectIdentifier(clients[number])) }
  }

  private func end(_ numbers: Range<Int>) {
    for number in numbers { load.end(ObjectIdentifier(clients[number])) }
  }

  @Test("Requests in work up to the limit are allowed, and one more is too many")
  func inWork() {
    begin(0..<500)
    #expect(!isOverloaded)
    begin(500..<501)
    #expect(isOverloaded)
    end(0..<1)
    #expect(!isOverloaded)
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
    #expect(isOverloaded)
    // 250 a second: less than half a second.
    begin(150..<350)
    end(50..<250)
    timer.pass(to: .seconds(1))
    #expect(!isOverloaded)
  }

  @Test("A burst is not refused before the rate is known, and few requests never are")
  func burst() {
    begin(0..<400)
    timer.pass(to: .milliseconds(499))
    #expect(!isOverloaded)
    end(0..<(400 - QuietLimit.busyRequestsMin + 1))
    timer.pass(to: .seconds(60))
    #expect(!isOverloaded)
  }

  @Test("A request that waited too long in the system's queues is refused if many are in work")
  func waitedBefore() {
    let late = Client()
    load.begin(ObjectIdentifier(late), waited: .seconds(QuietLimit.queueSecondsMax))
    begin(0..<(QuietLimit.busyRequestsMin - 2))
    #expect(!load.isOverloaded(for: ObjectIdentifier(late)))
    begin((QuietLimit.busyRequestsMin - 2)..<QuietLimit.busyRequestsMin)
    #expect(load.isOverloaded(for: ObjectIdentifier(late)))
    #expect(!isOverloaded)
    // 200 a second with 50 in work: a quarter of a second, too long for a request that has waited 0.3 seconds.
    begin(100..<200)
    timer.pass(to: .milliseconds(500))
    end(100..<200)
    begin(200..<217)
    let waiting = Client()
    load.begin(ObjectIdentifier(waiting), waited: .milliseconds(300))
    #expect(load.isOverloaded(for: ObjectIdentifier(waiting)))
    #expect(!isOverloaded)
  }

  @Test("A request that was allowed is not begun if it then waits too long with many others")
  func late() {
    begin(0..<(QuietLimit.busyRequestsMin - 1))
    let first = ObjectIdentifier(clients[0])
    timer.pass(to: .seconds(QuietLimit.beginSecondsMax))
    begin((QuietLimit.busyRequestsMin - 1)..<QuietLimit.busyRequestsMin)
    #expect(!load.isLate(first))
    timer.pass(to: .seconds(QuietLimit.beginSecondsMax) + .milliseconds(1))
    #expect(load.isLate(first))
    #expect(!load.isLate(ObjectIdentifier(clients[QuietLimit.busyRequestsMin - 1])))
    end(1..<2)
    #expect(!load.isLate(first))
  }

  @Test(
    "Few requests are processed at once; the others begin in their order when one ends or is refused"
  )
  func waitToBegin() async throws {
    for number in 0..<QuietLimit.requestsBegunMax {
      await load.waitToBegin(ObjectIdentifier(clients[number]))
    }
    let begun = Begun()
    var tasks: [Task<Void, Never>] = []
    for number in 500..<503 {
      tasks.append(
        Task { [load, clients] in
          await load.waitToBegin(ObjectIdentifier(clients[number]))
          begun.append(number)
        })
      try await Patience.until { load.waitingCount == tasks.count }
    }
    #expect(begun.numbers.isEmpty)
    load.end(ObjectIdentifier(clients[1]))
    await tasks[0].value
    // A second end of the same request frees no place.
    load.end(ObjectIdentifier(clients[1]))
    #expect(load.waitingCount == 2)
    load.refuse(ObjectIdentifier(clients[500]))
    await tasks[1].value
    load.end(ObjectIdentifier(clients[501]))
    await tasks[2].value
    #expect(begun.numbers == [500, 501, 502])
    #expect(load.waitingCount == 0)
  }

  @Test("If no request finishes for a long time, new requests are refused until one does")
  func stall() {
    begin(0..<QuietLimit.busyRequestsMin)
    timer.pass(to: .seconds(10))
    #expect(isOverloaded)
    end(0..<1)
    #expect(!isOverloaded)
  }

  @Test("The weight of finished requests decays with time")
  func decay() {
    begin(0..<100)
    // 1,000 a second for ten seconds, then nothing.
    for second in 1...10 {
      for _ in 0..<10 {
        begin(100..<200)
        end(100..<200)
      }
      timer.pass(to: .seconds(second))
      #expect(!isOverloaded)
    }
    timer.pass(to: .seconds(30))
    _ = isOverloaded
    timer.pass(to: .seconds(60))
    #expect(isOverloaded)
  }

  @Test(
    "A request above the limit gets 503 with Retry-After, in the form of its route, and has no effect"
  )
  func refused() async throws {
    let echo = EchoServer { $0.requestsInWorkMax = 2 }
    try await echo.running { port async throws in
      var held: [WireConnection] = []
      for number in 1...2 {
        let post = Post(#"{"word":"held"}"#)
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
