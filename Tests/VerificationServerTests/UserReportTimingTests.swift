// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Synchronization
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import QuietHTTP
@testable import VerificationServer

/// The response must not reveal by its time if an SMS was sent.
@Suite("User report with a slow gateway")
struct UserReportTimingTests {
  private let gateway = HeldSMS()
  private let stopwatch = ManualStopwatch()
  private let sendTimes: ResponseTimes

  init() {
    sendTimes = ResponseTimes(randomness: SystemRandomness(), stopwatch: stopwatch)
  }

  /// Sends a report, or a decoy.
  private typealias Report = @Sendable (_ isDecoy: Bool) async throws -> RawPost.Answer

  /// Runs the route by itself, so that the recorded send times can be read.
  private func run(_ test: (@escaping Report) async throws -> Void) async throws {
    let bench = try VerificationBench()
    let apiKeys = APIKeys(
      storage: bench.storage, keys: bench.keys, clock: bench.clock, randomness: bench.randomness)
    let key = try await apiKeys.add(kind: .device, name: "an app")
    let failures = FailureBudget(
      AttemptLimits().ofCredentials, clock: bench.clock, randomness: bench.randomness)
    var policy = CodePolicy()
    policy.allowsUserReport = true
    let router = Router.quiet(refusals: .google, randomness: bench.randomness)
    let reports = UserReports(
      codeIssuer: CodeIssuer(
        storage: bench.storage, keys: bench.keys,
        rules: RulesInForce(pinLifetime: VerificationBench.lifetime, policy: policy),
        clock: bench.clock, randomness: SlowRandomness(stopwatch: stopwatch)),
      sms: SMSConfiguration(sender: gateway, region: "PL", template: "[code]"), budget: failures,
      quota: IssueQuota(AttemptLimits(), clock: bench.clock, randomness: bench.randomness),
      attempts: AttemptCounter(
        storage: bench.storage, clock: bench.clock, randomness: SystemRandomness()),
      sendTimes: sendTimes)
    UserReportRoute(
      reports: reports,
      gate: APIKeyGate(
        kinds: [.device], apiKeys: apiKeys,
        netmasks: .anyAddress, failures: failures, isInMaintenance: false)
    ).add(to: router)
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    let running = Task { try await server.run() }
    let port = await server.boundPort
    try await test { isDecoy in
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
    "A repeated report takes as long as one whose code is sent, and a decoy looks like both")
  func alike() async throws {
    try await run { report in
      let first = Task { try await report(false) }
      try await Patience.until { await gateway.messageCount == 1 }
      // There is no response before the gateway responds, and until then no recorded time.
      #expect(sendTimes.sample() == .zero)
      stopwatch.advance(by: .milliseconds(500))
      await gateway.open()
      let sent = try await first.value
      #expect(sent.status == 200)
      // Each draw of random bytes, before the code is stored, takes three milliseconds.
      let recorded = sendTimes.sample()
      #expect(recorded >= .milliseconds(503))
      let before = stopwatch.elapsed
      let again = try await report(false)
      // The first point of the grid after all of that, not only after the SMS. Padding draws bytes later.
      let waited = stopwatch.elapsed - before
      #expect(waited >= recorded && waited < recorded + .milliseconds(30))
      let decoy = try await report(true)
      for other in [again, decoy] {
        #expect(other.status == sent.status && other.body.count == sent.body.count)
        #expect(Set(other.headers.keys) == Set(sent.headers.keys))
        #expect(Self.fields(other) == Self.fields(sent))
      }
      #expect(await gateway.messageCount == 1)
    }
  }

  private static func fields(_ response: RawPost.Answer) -> [String] {
    let json = try? JSONSerialization.jsonObject(with: response.body) as? [String: Any]
    return (json ?? [:]).keys.sorted()
  }
}

/// Randomness that takes three milliseconds.
private struct SlowRandomness: Randomness {
  let stopwatch: ManualStopwatch

  func bytes(_ count: Int) -> [UInt8] {
    stopwatch.advance(by: .milliseconds(3))
    return SystemRandomness().bytes(count)
  }
}

/// The response must not reveal by its time if a phone had reported.
@Suite("Release of a phone") struct PhoneReleaseTests {
  /// A clock at which each look takes a time.
  private final class SlowClock: WallClock {
    private let stopwatch: ManualStopwatch
    private let delay = Mutex(Duration.zero)

    init(stopwatch: ManualStopwatch) {
      self.stopwatch = stopwatch
    }

    func set(_ delay: Duration) { self.delay.withLock { $0 = delay } }

    var now: Date {
      stopwatch.advance(by: delay.withLock { $0 })
      return VerificationBench.start
    }

    func sleep(until end: Date) async throws {}
  }

  @Test("The release of a phone that has not reported takes as long as one of a phone that has")
  func alike() async throws {
    let bench = try VerificationBench()
    let stopwatch = ManualStopwatch()
    let clock = SlowClock(stopwatch: stopwatch)
    let times = ResponseTimes(randomness: bench.randomness, stopwatch: stopwatch)
    let route = FreePhoneRoute(
      storage: bench.storage, keys: bench.keys, isOffered: true,
      gate: APIKeyGate(
        kinds: [.admin],
        apiKeys: APIKeys(
          storage: bench.storage, keys: bench.keys, clock: bench.clock,
          randomness: bench.randomness),
        netmasks: .anyAddress,
        failures: FailureBudget(
          AttemptLimits().ofCredentials, clock: bench.clock, randomness: bench.randomness),
        isInMaintenance: false),
      clock: clock, randomness: bench.randomness, times: times)
    let phone = Data([9])
    var code = CodeStorageTests.code(1)
    code.phoneHash = phone
    #expect(try await bench.storage.issue(code, at: VerificationBench.start) == .stored)
    clock.set(.milliseconds(500))
    try await route.free(phone)
    #expect(times.sample() >= .milliseconds(500))
    clock.set(.zero)
    // The same phone again, and another one.
    for unknown in [phone, Data([8])] {
      let before = stopwatch.elapsed
      try await route.free(unknown)
      #expect(stopwatch.elapsed - before >= .milliseconds(500))
    }
  }
}
