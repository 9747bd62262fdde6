import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI

@testable import VerificationServer

/// servers.md 2.7, `/api/user-report`.
@Suite struct UserReportTests {
  static let nonce = Data(repeating: 1, count: 256).base64EncodedString()

  let folder: TemporaryFolder
  let sender = CollectedSMS()

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ story: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.policy.allowsUserReport = true
        $0.sms = SMSConfiguration(sender: sender, region: "PL", template: "[code]")
      }, story)
  }

  private func body(
    phone: String = "+48123456789", nonce: String = Self.nonce, date: String = "2027-01-14"
  ) -> String {
    #"{"testDate":"\#(date)","phone":"\#(phone)","nonce":"\#(nonce)","tzOffset":60}"#
  }

  @Test("2.7 Who reports gets a code by SMS that is good only with the nonce of the same phone")
  func report() async throws {
    try await run { server async throws in
      let answer = try await server.device(VerificationRoute.userReport, body())
      #expect(answer.status == 200)
      let said = try JSONDecoder().decode(UserReportAnswer.self, from: answer.body)
      #expect(said.expiresAtTimestamp == 1_800_000_900)
      #expect(said.expiresAt == "Fri, 15 Jan 2027 08:15:00 UTC")
      let code = try #require(await sender.messages.first?.text)
      #expect(try await server.verify(code).refusal == "400 code_invalid")
      let other = Data(repeating: 2, count: 256).base64EncodedString()
      #expect(try await server.verify(code, nonce: other).refusal == "400 code_invalid")
      #expect(
        try await server.verify(code, accept: ["negative"], nonce: Self.nonce).refusal
          == "412 unsupported_test_type")
      let verified = try await server.verify(code, accept: ["user-report"], nonce: Self.nonce)
      let found = try JSONDecoder().decode(VerifyAnswer.self, from: verified.body)
      #expect(found.testtype == "user-report" && found.testDate == "2027-01-14")
      let certificate = try server.certificate(in: try await server.certify(found.token))
      #expect(certificate.reportType == "user-report")
    }
  }

  @Test(
    "2.7 A phone that reported is told the same and sent nothing: for an hour, or 30 days if used")
  func notTwice() async throws {
    try await run { server async throws in
      let path = VerificationRoute.userReport
      let first = try await server.device(path, body())
      let again = try await server.device(path, body(phone: "+48 123 456 789"))
      #expect(again.status == 200 && again.body.count == first.body.count)
      #expect(await sender.messages.count == 1)
      _ = try await server.device(path, body(phone: "+48123456780"))
      #expect(await sender.messages.count == 2)

      server.clock.advance(3_599)
      _ = try await server.device(path, body())
      #expect(await sender.messages.count == 2)
      server.clock.advance(1)
      _ = try await server.device(path, body())
      let code = try #require(await sender.messages.last?.text)
      #expect(await sender.messages.count == 3)
      #expect(try await server.verify(code, nonce: Self.nonce).status == 200)

      server.clock.advance(30 * 86_400 - 1)
      try await server.server.removeExpired()
      _ = try await server.device(path, body(date: "2027-02-10"))
      #expect(await sender.messages.count == 3)
      server.clock.advance(1)
      _ = try await server.device(path, body(date: "2027-02-10"))
      #expect(await sender.messages.count == 4)
    }
  }

  @Test("2.7 Each error has its code and status")
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

  @Test("2.7 Where reports are switched off, or no SMS can be sent, they are refused")
  func switchedOff() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      #expect(
        try await server.device(VerificationRoute.userReport, body()).refusal
          == "400 unsupported_test_type")
    }
  }

  @Test("Where the SMS cannot be sent nothing is kept, and the phone may try again at once")
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

  @Test("5.5 A report that got 503 is not counted, neither for its address nor for the app's key")
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

  @Test("Neither the phone number nor the nonce lies in the database or the log")
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
