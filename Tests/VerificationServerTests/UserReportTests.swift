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
