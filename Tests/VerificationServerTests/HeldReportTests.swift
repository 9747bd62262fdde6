import Foundation
import Hummingbird
import TestSupport
import Testing
import VerificationAPI
import World

@testable import QuietHTTP
@testable import VerificationServer

/// Documentation/VerificationServer.md 3.8: what is told is told after as long as sending takes.
@Suite("A report whose gateway takes its time")
struct HeldReportTests {
  private let gateway = HeldSMS()
  private let sendTimes = AnswerTimes(randomness: SystemRandomness())

  /// Asks for a code, or as a decoy does.
  private typealias Report = @Sendable (_ isDecoy: Bool) async throws -> RawPost.Answer

  /// The route by itself, so that the times it goes by can be looked at.
  private func run(_ story: (@escaping Report) async throws -> Void) async throws {
    let bench = try VerificationBench()
    let desk = ApiKeyDesk(
      storage: bench.storage, keys: bench.keys, clock: bench.clock, randomness: bench.randomness)
    let key = try await desk.add(kind: .device, name: "an app")
    let attempts = Attempts(AttemptLimits(), clock: bench.clock, randomness: bench.randomness)
    var policy = CodePolicy()
    policy.allowsUserReport = true
    let router = Router.quiet(refusals: .google, randomness: bench.randomness)
    UserReportRoute(
      issuance: CodeIssuance(
        storage: bench.storage, keys: bench.keys, lifetime: VerificationBench.lifetime,
        policy: policy, clock: bench.clock, randomness: bench.randomness),
      sms: SMSConfiguration(sender: gateway, region: "PL", template: "[code]"),
      caller: Caller(
        kind: .device, check: ApiKeyCheck(storage: bench.storage, keys: bench.keys),
        netmasks: .everybody, attempts: attempts, isInMaintenance: false),
      attempts: attempts, sendTimes: sendTimes
    ).add(to: router)
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    let running = Task { try await server.run() }
    let port = await server.boundPort
    try await story { isDecoy in
      let headers = ["X-API-Key": key].merging(isDecoy ? ["X-Chaff": "1"] : [:]) { $1 }
      return try await RawPost(port: port, path: VerificationRoute.userReport, headers: headers)
        .answer(sending: Data(Self.body.utf8))
    }
    running.cancel()
    _ = await running.result
  }

  private static let body =
    #"{"testDate":"2027-01-14","phone":"+48123456789","nonce":"\#(UserReportTests.nonce)"}"#

  @Test(
    "2.7 A phone that may not report waits as one whose code is sent, and a decoy looks like both")
  func alike() async throws {
    try await run { report in
      let first = Task { try await report(false) }
      try await Patience.until { await gateway.asked == 1 }
      // Nobody is told anything before the gateway has said yes, and until then there is no time to go by.
      #expect(sendTimes.drawn() == .zero)
      await gateway.open()
      let sent = try await first.value
      #expect(sent.status == 200 && sendTimes.drawn() > .zero)
      #expect(sendTimes.usualDelay == .zero)
      // Who slept knows by how much it woke up too late. A machine that is busy just then may leave nothing to
      // sleep for, so it is asked until it slept.
      var again = sent
      for _ in 0..<20 where sendTimes.usualDelay == .zero { again = try await report(false) }
      #expect(sendTimes.usualDelay > .zero)
      let decoy = try await report(true)
      for other in [again, decoy] {
        #expect(other.status == sent.status && other.body.count == sent.body.count)
        #expect(Set(other.headers.keys) == Set(sent.headers.keys))
        #expect(Self.fields(other) == Self.fields(sent))
      }
      #expect(await gateway.asked == 1)
    }
  }

  private static func fields(_ answer: RawPost.Answer) -> [String] {
    let json = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
    return (json ?? [:]).keys.sorted()
  }
}
