// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// Limits that have no test of their own elsewhere, each with values below, on and above.
/// Documentation/TestedPromises.md lists the other tests.
@Suite("Limits")
struct LimitTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Tests that use a limit by name pass whatever its value is.
  @Test("The limits have the documented values")
  func numbers() {
    #expect(VerificationLimit.bodyBytesMax == 8_192)
    #expect(VerificationLimit.apiTokenCharacters == 16...256)
    #expect(VerificationLimit.drawsMax == 20)
    #expect(VerificationLimit.expiredCodeKeptSeconds == 86_400)
    #expect(VerificationLimit.cleanupPeriodSeconds == 300)
    #expect(VerificationLimit.signingKeysAgeSecondsMax == 5)
    #expect(
      (VerificationLimit.smsSpooledMax, VerificationLimit.smsResponseBytesMax) == (10_000, 65_536))
  }

  @Test("A configuration on its limits is accepted, one beyond them is rejected")
  func configuration() throws {
    typealias Change = (inout VerificationServerConfiguration) -> Void
    let good = VerificationServerConfiguration(
      databaseFile: folder.path("x.sqlite"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 7, count: 32), signing: try VerificationBench().signing)
    func lifetimes(_ code: TimeInterval, _ token: TimeInterval) -> Change {
      { ($0.codeLifetime, $0.tokenLifetime) = (code, token) }
    }
    func policy(_ change: @escaping (inout CodePolicy) -> Void) -> Change {
      { change(&$0.policy) }
    }
    let day: TimeInterval = 86_400
    let bounds: [(isGood: Bool, change: Change)] = [
      (false, lifetimes(59, 1_800)), (true, lifetimes(60, 1_800)), (true, lifetimes(61, 1_800)),
      (true, lifetimes(day, day)), (false, lifetimes(day + 1, day + 1)),
      (false, lifetimes(60, 59)), (true, lifetimes(60, 60)), (false, lifetimes(day, day + 1)),
      (false, lifetimes(61, 60)),
      (false, policy { $0.shortCodeLifetime = 59 }), (true, policy { $0.shortCodeLifetime = 60 }),
      (true, policy { $0.shortCodeLifetime = 3_600 }),
      (false, policy { $0.shortCodeLifetime = 3_601 }),
      (false, policy { $0.longCodeLifetime = 899 }), (true, policy { $0.longCodeLifetime = 900 }),
      (true, policy { $0.longCodeLifetime = day }),
      (false, policy { $0.longCodeLifetime = day + 1 }),
      (false, policy { $0.verificationTokenLifetime = day - 1 }),
      (true, policy { $0.verificationTokenLifetime = day }),
      (false, policy { $0.verificationTokenLifetime = day + 1 }),
      (false, policy { $0.certificateLifetime = 59 }),
      (true, policy { $0.certificateLifetime = 60 }),
      (true, policy { $0.certificateLifetime = 3_600 }),
      (false, policy { $0.certificateLifetime = 3_601 }),
      (false, policy { $0.shortCodeDigits = 5 }), (true, policy { $0.shortCodeDigits = 6 }),
      (true, policy { $0.shortCodeDigits = 11 }), (false, policy { $0.shortCodeDigits = 12 }),
      (false, policy { $0.longCodeCharacters = 11 }),
      (true, policy { $0.longCodeCharacters = 12 }),
      (true, policy { $0.longCodeCharacters = 16 }),
      (false, policy { $0.longCodeCharacters = 17 }),
    ]
    for (number, bound) in bounds.enumerated() {
      var configuration = good
      bound.change(&configuration)
      #expect(((try? configuration.validatedKeys()) != nil) == bound.isGood, "bound \(number)")
    }
  }

  @Test(
    "An external issuer ID may have 255 characters",
    arguments: [(254, 200), (255, 200), (256, 400)])
  func externalIssuer(length: Int, status: Int) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let name = String(repeating: "a", count: length)
      let body = #"{"testType":"confirmed","externalIssuerID":"\#(name)"}"#
      #expect(try await server.admin(VerificationRoute.issue, body).status == status)
    }
  }

  @Test("An external issuer ID has no control characters", arguments: [#"\u0000"#, #"a\nb"#])
  func externalIssuerControls(name: String) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let body = #"{"testType":"confirmed","externalIssuerID":"\#(name)"}"#
      let refused = try await server.admin(VerificationRoute.issue, body)
      #expect(refused.refusal == "400 unparsable_request")
    }
  }

  @Test(
    "A code is drawn as often as the limit allows", arguments: [-1, 0])
  func draws(offset: Int) async throws {
    let bench = try VerificationBench()
    let recorder = RecordingRandomness()
    let taken = VerificationCode.drawn(from: recorder)
    _ = try await bench.codeIssuer(randomness: ScriptedRandomness(recorder.recorded))
      .code(for: VerificationBench.confirmed)
    let another = RecordingRandomness()
    let free = VerificationCode.drawn(from: another)
    try #require(free != taken)
    // The last draw is free, or comes one too late.
    let before = (0..<VerificationLimit.drawsMax + offset).flatMap { _ in recorder.recorded }
    let codeIssuer = bench.codeIssuer(randomness: ScriptedRandomness(before + another.recorded))
    let code = try? await codeIssuer.code(for: VerificationBench.confirmed)
    #expect(code == (offset < 0 ? free : nil))
  }

  @Test("All expired codes are removed, in one transaction or two", arguments: [499, 500, 501])
  func removal(count: Int) async throws {
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    for number in 0..<count {
      _ = try await storage.issue(
        CodeStorageTests.code(number, expiresIn: 60), at: VerificationBench.start)
    }
    try await RunningServer.run(in: folder.url) { server async throws in
      server.clock.advance(by: 61 + VerificationLimit.expiredCodeKeptSeconds)
      try await server.server.removeExpired()
      let left = try await storage.removeExpired(at: VerificationBench.start + 61, atMost: 10_000)
      #expect(left == 0)
    }
  }

  @Test(
    "An expired code gets code_expired for a day, and code_invalid afterwards", arguments: [0.0, 1])
  func expiredCode(offset: TimeInterval) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.issue().code
      server.clock.advance(by: 900 + VerificationLimit.expiredCodeKeptSeconds + offset)
      try await server.server.removeExpired()
      let refusal = try await server.verify(code).refusal
      #expect(refusal == (offset > 0 ? "400 code_invalid" : "400 code_expired"))
    }
  }

  @Test("Live codes are counted up to the requested number", arguments: [2, 3, 4])
  func liveCount(most: Int) async throws {
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    let form = CodeStorageTests.form
    for number in 0..<3 {
      _ = try await storage.issue(
        CodeStorageTests.code(number, expiresIn: 60), at: VerificationBench.start)
    }
    #expect(
      try await storage.liveCount(of: form, at: VerificationBench.start, atMost: most)
        == min(most, 3))
    #expect(
      try await storage.liveCount(of: form, at: VerificationBench.start + 60, atMost: most)
        == min(most, 3))
    #expect(
      try await storage.liveCount(of: form, at: VerificationBench.start + 61, atMost: most) == 0)
  }

  @Test("A large response of the SMS gateway is cut off, and a silent gateway times out")
  func gateway() async throws {
    let router = Router(context: QuietContext.self)
    router.post("/2010-04-01/Accounts/:account/Messages.json") { _, context in
      let name = context.parameters.get("account") ?? ""
      if name == "silent" { try await Task.sleep(for: .seconds(3_600)) }
      return ByteBuffer(repeating: 0x20, count: Int(name) ?? 0)
    }
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    let run = Task { try await server.run() }
    let base = try #require(URL(string: "http://127.0.0.1:\(await server.boundPort)"))
    let phone = try #require(PhoneNumber("+48123456789"))
    let limit = VerificationLimit.smsResponseBytesMax
    for (account, failure) in [
      ("\(limit - 1)", nil), ("\(limit)", nil), ("\(limit + 1)", SMSFailure.failed),
      ("silent", .failed),
    ] {
      var gateway = SMSGateway(baseURL: base, account: account, token: "a", from: "b")
      if account != "silent" { gateway.timeoutSeconds = .init(Patience.seconds) }
      var found: SMSFailure?
      do throws(SMSFailure) {
        try await gateway.send(SMSMessage(phone: phone, text: "a"))
      } catch {
        found = error
      }
      #expect(found == failure, "\(account)")
    }
    run.cancel()
    _ = await run.result
  }
}
