// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import GRDB
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// POST /api/issue, /api/batch-issue, /api/checkcodestatus, /api/expirecode and /generateCodesBatch.
@Suite struct IssueRouteTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("The response contains the code and the expiry of both forms")
  func answer() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue()
      #expect(issued.code.utf8.count == 8 && Int(issued.code) != nil)
      #expect(UUID(uuidString: issued.uuid) != nil && issued.uuid == issued.uuid.lowercased())
      #expect(issued.expiresAt == "Fri, 15 Jan 2027 08:15:00 UTC")
      #expect(issued.expiresAtTimestamp == 1_800_000_900)
      #expect(issued.longExpiresAt == issued.expiresAt)
      #expect(issued.longExpiresAtTimestamp == issued.expiresAtTimestamp)
      #expect(issued.generatedSMS == nil && issued.phone == nil)
    }
  }

  @Test("A uuid of the client is used, and rejected the second time")
  func uuid() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let own = "0b1c2d3e-0000-4000-8000-000000000001"
      let body = #"{"testType":"confirmed","uuid":"\#(own.uppercased())"}"#
      #expect(try await server.issue(body).uuid == own)
      let again = try await server.admin(VerificationRoute.issue, body)
      #expect(again.refusal == "409 uuid_already_exists")
      let none = try await server.admin(
        VerificationRoute.issue, #"{"testType":"confirmed","uuid":"1"}"#)
      #expect(none.refusal == "400 unparsable_request")
    }
  }

  @Test("With codeForm pin the code is a PIN that gives an upload token, and has a status")
  func pin() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue(#"{"testType":"confirmed","codeForm":"pin"}"#)
      #expect(VerificationCode(issued.code)?.characters == issued.code)
      #expect(try await server.status(of: issued.uuid).claimed == false)
      #expect(try await server.redeem(issued.code).token != nil)
      #expect(try await server.status(of: issued.uuid).claimed == true)
      let likely = try await server.admin(
        VerificationRoute.issue, #"{"testType":"likely","codeForm":"pin"}"#)
      #expect(likely.refusal == "400 unsupported_test_type")
      let other = try await server.admin(
        VerificationRoute.issue, #"{"testType":"confirmed","codeForm":"PIN"}"#)
      #expect(other.refusal == "400 unparsable_request")
    }
  }

  @Test(
    "Each invalid request gets its error code and status",
    arguments: [
      ("{}", "400 invalid_test_type"), (#"{"testType":"positive"}"#, "400 invalid_test_type"),
      (#"{"testType":"user-report"}"#, "400 unsupported_test_type"),
      (#"{"testType":"negative"}"#, "400 unsupported_test_type"),
      (#"{"testType":"confirmed"}"#, "400 missing_date"),
      (#"{"testType":"confirmed","symptomDate":"15.1.2027"}"#, "400 unparsable_request"),
      (#"{"testType":"confirmed","symptomDate":"2027-01-16"}"#, "400 invalid_date"),
      (#"{"testType":"confirmed","testDate":"2026-12-17"}"#, "400 invalid_date"),
      (
        #"{"testType":"confirmed","testDate":"2027-01-15","tzOffset":841}"#,
        "400 unparsable_request"
      ),
      (
        #"{"testType":"confirmed","testDate":"2027-01-15","phone":"123"}"#,
        "400 phone_number_invalid"
      ),
      (
        #"{"testType":"confirmed","testDate":"2027-01-15","phone":"+48123456789"}"#,
        "400 sms_failure"
      ),
      (
        #"{"testType":"confirmed","testDate":"2027-01-15","onlyGenerateSMS":true}"#,
        "400 unparsable_request"
      ),
    ])
  func errors(body: String, refusal: String) async throws {
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.policy.requiresDate = true
        $0.policy.testTypes = [.confirmed, .likely]
      }
    ) { server async throws in
      #expect(try await server.admin(VerificationRoute.issue, body).refusal == refusal)
      let good = #"{"testType":"confirmed","testDate":"2026-12-18"}"#
      #expect(try await server.admin(VerificationRoute.issue, good).status == 200)
    }
  }

  @Test("A day that has begun in the client's time zone counts as today")
  func timeZone() throws {
    let lateEvening = CalendarDay(VerificationBench.start).midnight + 23 * 3_600
    let tomorrow = "2027-01-16"
    #expect(throws: TestDates.Invalid.outOfRange) {
      try TestDates(symptomDate: tomorrow, testDate: nil, tzOffset: 59, now: lateEvening)
    }
    let dates = try TestDates(
      symptomDate: tomorrow, testDate: nil, tzOffset: 60, now: lateEvening)
    #expect(dates.symptomDay?.text == "2027-01-15")
    #expect(throws: TestDates.Invalid.outOfRange) {
      try TestDates(symptomDate: nil, testDate: tomorrow, tzOffset: -60, now: lateEvening)
    }
    let early = CalendarDay(VerificationBench.start).midnight + 3_600
    #expect(throws: TestDates.Invalid.outOfRange) {
      try TestDates(symptomDate: "2026-12-17", testDate: nil, tzOffset: -59, now: early)
    }
    let oldest = try TestDates(
      symptomDate: "2026-12-17", testDate: nil, tzOffset: -61, now: early)
    #expect(oldest.symptomDay?.text == "2026-12-17")
    for (offset, good) in [(-841.0, false), (-840, true), (840, true), (841, false)] {
      let dates = try? TestDates(
        symptomDate: nil, testDate: nil, tzOffset: offset, now: lateEvening)
      #expect((dates != nil) == good)
    }
  }

  @Test("A symptom date must be a real day, not in the future and at most 28 days ago")
  func symptomDate() throws {
    func day(_ text: String) -> CalendarDay? {
      (try? TestDates(symptomDate: text, testDate: nil, now: VerificationBench.start))?.symptomDay
    }
    #expect(day("2027-01-15")?.interval == 2_999_952)
    #expect(day("2027-01-16") == nil)
    #expect(day("2026-12-18") != nil)
    #expect(day("2026-12-17") == nil)
    for text in [
      "2027-1-15", "2027-02-30", "2027-00-10", "20270115", "2027-01-15T00:00", "-027-01-15",
      "２０２７-01-15", "2027-01-1a", "2027-01-15-", "2027-01-00", "2027-13-01",
    ] {
      #expect(day(text) == nil, "\(text)")
    }
  }

  @Test("Calendar days follow the Gregorian calendar, leap days included")
  func calendar() throws {
    for (text, number) in [
      ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2000-03-01", 11_017),
      ("2024-02-29", 19_782), ("2027-01-15", 20_833), ("2100-03-01", 47_541),
      ("0001-01-01", -719_162), ("9999-12-31", 2_932_896),
    ] {
      #expect(CalendarDay(text)?.number == number)
      #expect(CalendarDay(number: number).text == text)
    }
    #expect(CalendarDay("2100-02-29") == nil && CalendarDay("2023-02-29") == nil)
    #expect(
      UTCTime.rfc1123(Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 UTC"
    )
  }

  @Test("Short codes have the configured number of digits", arguments: 6...11)
  func lengths(digits: Int) async throws {
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(total: 100),
      configure: { $0.policy.shortCodeDigits = digits }
    ) { server async throws in
      #expect(try await server.issue().code.utf8.count == digits)
    }
  }

  @Test("With many live codes a digit is added, so that guessing does not become easier")
  func entropy() async throws {
    let bench = try VerificationBench()
    var policy = CodePolicy()
    policy.shortCodeDigits = 6
    let codeIssuer = CodeIssuer(
      storage: bench.storage, keys: bench.keys,
      rules: RulesInForce(pinLifetime: 1_800, policy: policy), clock: bench.clock,
      randomness: bench.randomness)
    let properties = CodeProperties(testResult: VerificationBench.confirmed)
    var lengths: [Int] = []
    for _ in 0..<18 {
      guard case .issued(let code) = try await codeIssuer.issue(properties) else { continue }
      lengths.append(code.typed.characters.utf8.count)
    }
    // 24,000 guesses in 15 minutes: 4.2 of 100,000,000 codes would be a thousandth of a hit.
    #expect(lengths == [Int](repeating: 8, count: 4) + [Int](repeating: 9, count: 14))
    bench.clock.advance(by: 901)
    guard case .issued(let code) = try await codeIssuer.issue(properties) else { return }
    #expect(code.typed.characters.utf8.count == 8)
  }

  @Test("In a batch an invalid item does not stop the others")
  func batch() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let request = #"{"testType":"confirmed"}"#
      for (count, status) in [(0, 400), (1, 200), (10, 200), (11, 400)] {
        let body =
          #"{"codes":[\#([String](repeating: request, count: count).joined(separator: ","))]}"#
        let response = try await server.admin(VerificationRoute.batchIssue, body)
        #expect(response.status == status)
        if status == 400 { #expect(response.refusal == "400 unparsable_request") }
      }
      let mixed =
        #"{"codes":[\#(request),{"testType":"strange"},{"testType":"confirmed","testDate":"1999-01-01"},\#(request)]}"#
      let response = try await server.admin(VerificationRoute.batchIssue, mixed)
      #expect(response.status == 400)
      let batch = try JSONDecoder().decode(BatchIssueResponse.self, from: response.body)
      #expect(batch.errorCode == .invalidTestType)
      let results = batch.codes.map { item in
        if case .refused(let failure) = item { failure.errorCode.rawValue } else { "issued" }
      }
      #expect(results == ["issued", "invalid_test_type", "invalid_date", "issued"])
      for case .issued(let issued) in batch.codes {
        #expect(try await server.verify(issued.code).status == 200)
      }
      let inner = #"{"codes":[{"testType":"confirmed","strange":1}]}"#
      #expect(
        try await server.admin(VerificationRoute.batchIssue, inner).refusal
          == "400 unparsable_request")
    }
  }

  @Test("A batch gets 503 if the database fails and 429 beyond the quota, with Retry-After")
  func batchRetry() async throws {
    let request = #"{"testType":"confirmed"}"#
    let body = #"{"codes":[\#(request),\#(request)]}"#
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(issuesPerApiKey: 3)
    ) { server async throws in
      _ = try await server.issue()
      _ = try await server.issue()
      let quota = try await server.admin(VerificationRoute.batchIssue, body)
      #expect(quota.status == 429 && quota.headers["retry-after"] == "86400")
      let batch = try JSONDecoder().decode(BatchIssueResponse.self, from: quota.body)
      #expect(batch.errorCode == .quotaExceeded)
      guard case .issued = batch.codes.first else { Issue.record("item 1 was refused"); return }
      server.clock.advance(by: 86_400)
      try await server.untilIdle()
      let queue = try server.database()
      try await queue.write { try $0.execute(sql: "ALTER TABLE codeHash RENAME TO away") }
      let failing = try await server.admin(VerificationRoute.batchIssue, body)
      #expect(failing.status == 503 && failing.headers["retry-after"] == "30")
      let refused = try JSONDecoder().decode(BatchIssueResponse.self, from: failing.body)
      #expect(refused.errorCode == .internalServerError)
      try await queue.write { try $0.execute(sql: "ALTER TABLE away RENAME TO codeHash") }
      #expect(try await server.admin(VerificationRoute.batchIssue, body).status == 200)
    }
  }

  @Test("The codes of a revoked key can be looked up and ended with another admin key")
  func revoked() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let keys = try server.apiKeys()
      let other = try await server.newKey(.admin)
      func issue(_ uuid: String) async throws {
        let body = #"{"testType":"confirmed","uuid":"\#(uuid)"}"#
        let response = try await server.post(
          VerificationRoute.issue, body, headers: ["X-API-Key": other])
        #expect(response.status == 200)
      }
      let uuid = "0b1c2d3e-0000-4000-8000-00000000000a"
      try await issue(uuid)
      let body = #"{"uuid":"\#(uuid)"}"#
      for path in [VerificationRoute.checkCodeStatus, VerificationRoute.expireCode] {
        #expect(try await server.admin(path, body).status == 401)
      }
      #expect(try await keys.revoke(String(other.prefix(16))))
      for path in [
        VerificationRoute.checkCodeStatus, VerificationRoute.expireCode,
        VerificationRoute.expireCode,
      ] {
        #expect(try await server.admin(path, body).status == 200, "\(path)")
      }
    }
  }

  @Test("If batches are switched off they are rejected")
  func noBatch() async throws {
    try await RunningServer.run(
      in: folder.url, configure: { $0.policy.allowsBatchIssue = false }
    ) { server async throws in
      let body = #"{"codes":[{"testType":"confirmed"}]}"#
      #expect(
        try await server.admin(VerificationRoute.batchIssue, body).refusal
          == "400 unparsable_request")
    }
  }

  @Test("Status and end of a code are available only to the API key that issued it")
  func status() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue()
      let before = try await server.status(of: issued.uuid)
      #expect(
        before
          == CodeStatusResponse(
            claimed: false, expiresAtTimestamp: 1_800_000_900, longExpiresAtTimestamp: 1_800_000_900
          ))
      let other = try await server.newKey(.admin)
      for path in [VerificationRoute.checkCodeStatus, VerificationRoute.expireCode] {
        let body = #"{"uuid":"\#(issued.uuid)"}"#
        let foreign = try await server.post(path, body, headers: ["X-API-Key": other])
        #expect(foreign.refusal == "401 code_user_unauthorized")
        let unknown = try await server.admin(path, #"{"uuid":"\#(UUID().uuidString)"}"#)
        #expect(unknown.refusal == "404 code_not_found")
        for none in ["{}", #"{"uuid":"x"}"#] {
          #expect(try await server.admin(path, none).refusal == "400 unparsable_request")
        }
      }
      let ended = try await server.status(of: issued.uuid, VerificationRoute.expireCode)
      #expect(ended.claimed == nil && ended.expiresAtTimestamp == 1_799_999_999)
      #expect(try await server.verify(issued.code).refusal == "400 code_expired")
      // Ending it again has no effect.
      server.clock.advance(by: 10)
      #expect(try await server.status(of: issued.uuid, VerificationRoute.expireCode) == ended)
    }
  }

  @Test(
    "A batch of /generateCodesBatch has 1 to 1000 codes, for half an hour or whole hours up to a day"
  )
  func proteGOSafeBatch() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for (count, duration, status) in [
        (0, 1_800, 400), (1, 1_800, 200), (1_000, 1_800, 200), (1_001, 1_800, 400),
        (1, 1_799, 400), (1, 1_801, 400), (1, 3_599, 400), (1, 3_600, 200), (1, 3_601, 400),
        (1, 7_200, 200), (1, 86_400, 200), (1, 90_000, 400), (1, 0, 400), (1, -3_600, 400),
      ] {
        let body = #"{"data":{"duration":\#(duration),"numberOfCodes":\#(count)}}"#
        let response = try await server.post(
          VerificationRoute.generateCodesBatch, body,
          headers: [VerificationRoute.apiTokenHeader: RunningServer.apiToken])
        #expect(response.status == status, "\(count) \(duration)")
        guard status == 200 else {
          #expect(response.failure?.error.status == .invalidArgument)
          continue
        }
        let codes = try #require(response.codes)
        #expect(Set(codes).count == count)
        #expect(codes.allSatisfy { VerificationCode($0) != nil })
      }
    }
  }

  @Test("PINs of a batch live for the requested duration, and are issued only with an API token")
  func proteGOSafeBatchLifetime() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let body = #"{"data":{"duration":7200,"numberOfCodes":2}}"#
      let codes = try #require(
        try await server.post(
          VerificationRoute.generateCodesBatch, body,
          headers: [VerificationRoute.apiTokenHeader: RunningServer.apiToken]
        ).codes)
      server.clock.advance(by: 7_200)
      #expect(try await server.redeem(codes[0]).status == 200)
      server.clock.advance(by: 1)
      #expect(try await server.redeem(codes[1]).status == 404)
      #expect(try await server.post(VerificationRoute.generateCodesBatch, body).status == 403)
      for wrong in [
        #"{"data":{"duration":"7200","numberOfCodes":2}}"#, #"{"data":{"numberOfCodes":2}}"#,
        #"{"data":{"duration":1800}}"#, #"{"data":{"duration":1800,"numberOfCodes":1.5}}"#,
        #"{"data":null}"#, "[]",
      ] {
        let response = try await server.post(
          VerificationRoute.generateCodesBatch, wrong,
          headers: [VerificationRoute.apiTokenHeader: RunningServer.apiToken])
        #expect(response.status == 400)
      }
    }
  }
}
