import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// Measures `firebreak serve` under twice the load that it sustains. It depends on the time and the machine, so it
/// runs only if the variable is set. It is not part of `make prove`: on a busy machine with two cores the clients
/// themselves were late, and it failed with a p99 of 20 s.
@Suite("An overloaded server")
struct OverloadedServerTests {
  private static let seconds = 10.0
  private static let clients = 16

  private struct Reply: Sendable {
    let status: Int
    let hasRetryAfter: Bool
    let seconds: Double
  }

  @Test(
    "At twice the sustainable rate accepted requests take less than a second, and the others get 503",
    .enabled(if: ProcessInfo.processInfo.environment["FIREBREAK_PROVE_LOAD"] != nil),
    .timeLimit(.minutes(Patience.minutes)))
  func doubleRate() async throws {
    // Each client has an address of its own, so that no attempt budget is spent.
    let proxy = #"{"trustedProxies": ["127.0.0.0/8"]}"#
    let authority = try await ServedAuthority(["keys/settings.json": proxy])
    let port = try #require(URL(string: authority.keys)?.port)
    let body = try Self.body()
    let calm = try await closedLoop(port, body)
    let rate = Double(calm.count) / Self.seconds
    let median = Self.quantile(0.5, of: calm)
    #expect(calm.allSatisfy { $0.status == 200 })
    #expect(Self.quantile(0.99, of: calm) < 5 * median + 0.05)
    let replies = try await openLoop(port, body, rate: 2 * rate)
    let accepted = replies.filter { $0.status == 200 }
    let refused = replies.filter { $0.status == 503 }
    print(
      "sustained \(Int(rate))/s, median \(median) s; at twice the rate \(accepted.count) accepted,",
      "p99 \(Self.quantile(0.99, of: accepted)) s, \(refused.count) refused,",
      "\(replies.count - accepted.count - refused.count) without a response")
    #expect(Self.quantile(0.99, of: accepted) < 1)
    #expect(refused.allSatisfy { $0.hasRetryAfter })
    #expect(accepted.count + refused.count == replies.count)
    #expect(Double(accepted.count) > rate * Self.seconds / 4)
    #expect(try await authority.servers.stop() == 0)
  }

  /// An upload of 14 keys without a valid token; as a decoy it is checked like any other.
  private static func body() throws -> Data {
    let today = UInt32(SystemClock().now.timeIntervalSince1970 / 86_400) * 144
    let keys = (1...14).map { day in
      UploadKey(
        key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
        rollingStartNumber: today - UInt32(day) * 144, transmissionRisk: 3)
    }
    let payload = UploadPayload(
      temporaryExposureKeys: keys, regions: ["PL"], platform: "android",
      appPackageName: "pl.gov.mc.protegosafe", verificationPayload: "a.b.c")
    let padding = Data(SystemRandomness().bytes(6_000)).base64EncodedString()
    return try JSONEncoder().encode(UploadRequest(data: payload, padding: padding))
  }

  private func ask(_ port: Int, _ body: Data, from number: Int) async throws -> Reply {
    let address = "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    let post = RawPost(
      port: port, path: KeyServerRoute.upload,
      headers: ["X-Chaff": "1", "X-Forwarded-For": address, "Connection": "close"])
    let start = ContinuousClock.now
    let answer = try? await post.answer(sending: body)
    return Reply(
      status: answer?.status ?? 0, hasRetryAfter: answer?.headers["retry-after"] != nil,
      seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  /// Some clients, each of which sends its next request after the response to the last one.
  private func closedLoop(_ port: Int, _ body: Data) async throws -> [Reply] {
    let end = ContinuousClock.now + .seconds(Self.seconds)
    return try await withThrowingTaskGroup(of: [Reply].self) { group in
      for client in 0..<Self.clients {
        group.addTask {
          var replies: [Reply] = []
          while ContinuousClock.now < end {
            replies.append(try await ask(port, body, from: client << 16 | replies.count))
          }
          return replies
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// Requests at a fixed rate, each on a connection of its own, however long the responses take.
  private func openLoop(_ port: Int, _ body: Data, rate: Double) async throws -> [Reply] {
    let start = ContinuousClock.now
    return try await withThrowingTaskGroup(of: Reply.self) { group in
      for number in 0..<Int(rate * Self.seconds) {
        try await Task.sleep(until: start + .seconds(Double(number) / rate), clock: .continuous)
        group.addTask { try await ask(port, body, from: 1 << 23 | number) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private static func quantile(_ share: Double, of replies: [Reply]) -> Double {
    let sorted = replies.map(\.seconds).sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}
