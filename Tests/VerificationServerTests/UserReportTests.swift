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

/// POST /api/user-report.
@Suite struct UserReportTests {
  static let nonce = Data(repeating: 1, count: 256).base64EncodedString()

  let folder: TemporaryFolder
  let sender = CollectedSMS()

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ test: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.policy.allowsUserReport = true
        $0.sms = SMSConfiguration(sender: sender, region: "PL", template: "[code]")
      }, test)
  }

  private func body(
    phone: String = "+48123456789", nonce: String = Self.nonce, date: String = "2027-01-14"
  ) -> String {
    #"{"testDate":"\#(date)","phone":"\#(phone)","nonce":"\#(nonce)","tzOffset":60}"#
  }

  @Test("What becomes of a report is counted once, and a failed SMS by the code of the gateway")
  func counts() async throws {
    try await run { server async throws in
      _ = try await server.device(VerificationRoute.userReport, body())
      let code = try #require(await sender.messages.first?.text)
      // Its phone must wait, and nothing is sent.
      _ = try await server.device(VerificationRoute.userReport, body())
      _ = try await server.verify(code)
      let accepted = ["user-report"]
      let verified = try await server.verify(code, accept: accepted, nonce: Self.nonce)
      _ = try await server.verify(code, accept: accepted, nonce: Self.nonce)
      // The code is used: this is no report on another device.
      _ = try await server.verify(code)
      let token = try JSONDecoder().decode(VerifyResponse.self, from: verified.body).token
      for _ in 0..<2 { _ = try await server.certify(token) }
      let other = try await server.issue().code
      _ = try await server.certify(try await server.verified(other).token)
      await sender.fail(with: SMSFailure(.failed, gatewayCode: 30_003))
      let failed = try await server.device(
        VerificationRoute.userReport, body(phone: "+48123456780"))
      #expect(failed.status == 503)
      await sender.fail(with: .queueFull)
      _ = try await server.device(VerificationRoute.userReport, body(phone: "+48123456780"))
    }
    // The end of the server has stored the numbers.
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    let counts = try await storage.issuerCounts()
    func numbers(_ kind: IssuerCount.Kind) -> [String: Int] {
      Dictionary(counts.filter { $0.kind == kind }.map { ($0.name, $0.issued) }) { $1 }
    }
    #expect(
      numbers(.userReport) == ["issued": 1, "claimed": 1, "invalidNonce": 1, "tokenClaimed": 1])
    #expect(numbers(.smsError) == ["30003": 1, "queueFull": 1])
  }

  @Test("A user report gets a code by SMS that is valid only with the nonce of the report")
  func report() async throws {
    try await run { server async throws in
      let response = try await server.device(VerificationRoute.userReport, body())
      #expect(response.status == 200)
      let report = try JSONDecoder().decode(UserReportResponse.self, from: response.body)
      #expect(report.expiresAtTimestamp == 1_800_000_900)
      #expect(report.expiresAt == "Fri, 15 Jan 2027 08:15:00 UTC")
      let code = try #require(await sender.messages.first?.text)
      #expect(try await server.verify(code).refusal == "400 code_invalid")
      let other = Data(repeating: 2, count: 256).base64EncodedString()
      #expect(try await server.verify(code, nonce: other).refusal == "400 code_invalid")
      #expect(
        try await server.verify(code, accept: ["negative"], nonce: Self.nonce).refusal
          == "412 unsupported_test_type")
      let verified = try await server.verify(code, accept: ["user-report"], nonce: Self.nonce)
      let found = try JSONDecoder().decode(VerifyResponse.self, from: verified.body)
      #expect(found.testtype == "user-report" && found.testDate == "2027-01-14")
      let certificate = try server.certificate(in: try await server.certify(found.token))
      #expect(certificate.reportType == "user-report")
    }
  }

  @Test(
    "A repeated report gets the same response and no SMS, for an hour, or for 30 days if the code was used"
  )
  func notTwice() async throws {
    try await run { server async throws in
      let path = VerificationRoute.userReport
      let first = try await server.device(path, body())
      let again = try await server.device(path, body(phone: "+48 123 456 789"))
      #expect(again.status == 200 && again.body.count == first.body.count)
      #expect(await sender.messages.count == 1)
      _ = try await server.device(path, body(phone: "+48123456780"))
      #expect(await sender.messages.count == 2)

      server.clock.advance(by: 3_599)
      _ = try await server.device(path, body())
      #expect(await sender.messages.count == 2)
      server.clock.advance(by: 1)
      _ = try await server.device(path, body())
      let code = try #require(await sender.messages.last?.text)
      #expect(await sender.messages.count == 3)
      #expect(try await server.verify(code, nonce: Self.nonce).status == 200)

      server.clock.advance(by: 30 * 86_400 - 1)
      try await server.server.removeExpired()
      _ = try await server.device(path, body(date: "2027-02-10"))
      #expect(await sender.messages.count == 3)
      server.clock.advance(by: 1)
      _ = try await server.device(path, body(date: "2027-02-10"))
      #expect(await sender.messages.count == 4)
    }
  }

  private func free(
    _ phone: String, _ server: RunningServer
  ) async throws -> RunningServer.Response {
    try await server.admin(VerificationRoute.freePhone, #"{"phone":"\#(phone)"}"#)
  }

  @Test("A freed phone gets a new code at once, and the code before is no longer valid")
  func freed() async throws {
    try await run { server async throws in
      let path = VerificationRoute.userReport
      _ = try await server.device(path, body())
      let first = try #require(await sender.messages.last?.text)
      #expect(try await free("+48 123 456 789", server).status == 200)
      #expect(try await server.verify(first, nonce: Self.nonce).refusal == "400 code_expired")
      _ = try await server.device(path, body())
      let second = try #require(await sender.messages.last?.text)
      #expect(await sender.messages.count == 2)
      #expect(try await server.verify(second, nonce: Self.nonce).status == 200)
      // The phone waits again, for 30 days now, until it is freed a second time.
      server.clock.advance(by: 86_400)
      _ = try await server.device(path, body())
      #expect(await sender.messages.count == 2)
      #expect(try await free("+48123456789", server).status == 200)
    }
    try await run { server async throws in
      server.clock.advance(by: 86_400)
      _ = try await server.device(VerificationRoute.userReport, body())
      #expect(await sender.messages.count == 3)
    }
  }

  @Test("The response about a phone that has not reported is the same")
  func freedUnknown() async throws {
    try await run { server async throws in
      _ = try await server.device(VerificationRoute.userReport, body())
      let known = try await free("+48123456789", server)
      for phone in ["+48123456789", "+48123456780"] {
        let unknown = try await free(phone, server)
        #expect(unknown.status == known.status && unknown.body.count == known.body.count)
        #expect(unknown.headers.keys.sorted() == known.headers.keys.sorted())
        let json = try JSONSerialization.jsonObject(with: unknown.body) as? [String: Any]
        #expect(json?.keys.sorted() == ["padding"])
      }
      for (phone, refusal) in [
        ("", "400 missing_phone"), ("911", "400 phone_number_invalid"),
      ] {
        #expect(try await free(phone, server).refusal == refusal)
      }
      let own = try await server.device(
        VerificationRoute.freePhone, #"{"phone":"+48123456789"}"#)
      #expect(own.refusal == "401 unauthorized")
      for line in server.log.lines { #expect(!line.contains("48123456789")) }
    }
  }

  @Test("Each invalid report gets its error code and status")
  func errors() async throws {
    try await run { server async throws in
      let path = VerificationRoute.userReport
      for (length, refusal) in [(255, "400 missing_nonce"), (256, nil), (257, "400 missing_nonce")]
      {
        let nonce = Data(repeating: 1, count: length).base64EncodedString()
        #expect(try await server.device(path, body(nonce: nonce)).refusal == refusal)
      }
      for (question, refusal) in [
        (body(nonce: ""), "400 missing_nonce"), (body(nonce: "?"), "400 missing_nonce"),
        (body(phone: ""), "400 missing_phone"), (body(phone: "911"), "400 missing_phone"),
        (body(date: ""), "400 missing_date"), (body(date: "2027-01-16"), "400 invalid_date"),
        (body(date: "yesterday"), "400 unparsable_request"),
        (#"{"nonce":5}"#, "400 unparsable_request"),
      ] {
        #expect(try await server.device(path, question).refusal == refusal)
      }
    }
  }

  @Test("Reports are rejected if they are switched off or no SMS can be sent")
  func switchedOff() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      #expect(
        try await server.device(VerificationRoute.userReport, body()).refusal
          == "400 unsupported_test_type")
      #expect(try await free("+48123456789", server).refusal == "400 unsupported_test_type")
    }
  }

  @Test("If the SMS cannot be sent nothing is stored, and the phone may report again at once")
  func smsFails() async throws {
    try await run { server async throws in
      await sender.fail(with: .failed)
      let path = VerificationRoute.userReport
      let refused = try await server.device(path, body())
      #expect(refused.refusal == "503 internal_server_error")
      #expect(refused.headers["retry-after"] == "30")
      await sender.fail(with: nil)
      #expect(try await server.device(path, body()).status == 200)
      #expect(await sender.messages.count == 1)
    }
  }

  @Test("A report with 503 counts neither for its address nor for the API key")
  func smsFailsForFree() async throws {
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(perAddress: 1, issuesPerApiKey: 1),
      configure: {
        $0.policy.allowsUserReport = true
        $0.sms = SMSConfiguration(sender: sender, region: "PL", template: "[code]")
      }
    ) { server async throws in
      await sender.fail(with: .failed)
      let path = VerificationRoute.userReport
      for _ in 0..<3 { #expect(try await server.device(path, body()).status == 503) }
      await sender.fail(with: nil)
      #expect(try await server.device(path, body()).status == 200)
      #expect(try await server.device(path, body()).status == 429)
    }
  }

  @Test("Phone number and nonce are not readable in the database or the log")
  func atRest() async throws {
    try await run { server async throws in
      _ = try await server.device(VerificationRoute.userReport, body())
      let nonce = try #require(Data(base64Encoded: Self.nonce))
      for file in folder.files() {
        let bytes = try Data(contentsOf: file)
        #expect(bytes.range(of: Data("48123456789".utf8)) == nil)
        #expect(bytes.range(of: nonce.prefix(32)) == nil)
      }
      for line in server.log.lines { #expect(!line.contains("48123456789")) }
    }
  }
}

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
