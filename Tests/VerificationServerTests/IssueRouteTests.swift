import CallableEnvelope
import Foundation
import GRDB
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// servers.md 2.8, `/api/issue`. HandClock.start is 2027-01-15 08:00 UTC.
@Suite struct IssueRouteTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("2.8 The answer names the code and its end in both forms, and the long one's")
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

  @Test("2.8 A uuid of the asker's own is kept, and taken once")
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

  @Test(
    "2.8 Each error has its code and status",
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

  @Test("2.8 A day that has begun where the asker is counts as today")
  func timeZone() throws {
    let lateEvening = CalendarDay(HandClock.start).midnight + 23 * 3_600
    let tomorrow = "2027-01-16"
    #expect(throws: FindingDates.Fault.outOfRange) {
      try FindingDates(symptomDate: tomorrow, testDate: nil, tzOffset: 59, now: lateEvening)
    }
    let dates = try FindingDates(
      symptomDate: tomorrow, testDate: nil, tzOffset: 60, now: lateEvening)
    #expect(dates.symptomDay?.text == "2027-01-15")
    #expect(throws: FindingDates.Fault.outOfRange) {
      try FindingDates(symptomDate: nil, testDate: tomorrow, tzOffset: -60, now: lateEvening)
    }
    for (offset, good) in [(-841.0, false), (-840, true), (840, true), (841, false)] {
      let dates = try? FindingDates(
        symptomDate: nil, testDate: nil, tzOffset: offset, now: lateEvening)
      #expect((dates != nil) == good)
    }
  }

  @Test("A symptom date is a real day, not in the future and at most 28 days ago")
  func symptomDate() throws {
    func day(_ text: String) -> CalendarDay? {
      (try? FindingDates(symptomDate: text, testDate: nil, now: HandClock.start))?.symptomDay
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

  @Test("Days are counted as the calendar counts them, leap days included")
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
      CivilTime.rfc1123(Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 UTC"
    )
  }

  @Test("2.8 Codes are as long as they were set up to be", arguments: [6, 7, 8, 9, 10])
  func lengths(digits: Int) async throws {
    try await RunningServer.run(
      in: folder.url, configure: { $0.policy.shortCodeDigits = digits }
    ) { server async throws in
      #expect(try await server.issue().code.utf8.count == digits)
    }
  }

  @Test("5.11 Where many codes are live a digit is added, so that guessing gets no easier")
  func entropy() async throws {
    let bench = try VerificationBench()
    var policy = CodePolicy()
    policy.shortCodeDigits = 6
    let issuance = CodeIssuance(
      storage: bench.storage, keys: bench.keys, lifetime: 1_800, policy: policy,
      clock: bench.clock, randomness: bench.randomness)
    let order = CodeOrder(finding: VerificationBench.confirmed)
    var lengths: [Int] = []
    for _ in 0..<101 {
      guard case .issued(let code) = try await issuance.issue(order) else { continue }
      lengths.append(code.short.characters.utf8.count)
    }
    #expect(lengths == [Int](repeating: 6, count: 100) + [7])
    bench.clock.advance(901)
    guard case .issued(let code) = try await issuance.issue(order) else { return }
    #expect(code.short.characters.utf8.count == 6)
  }

  @Test("2.8 Up to ten codes at once: one that is refused does not stop the others")
  func batch() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let order = #"{"testType":"confirmed"}"#
      for (count, status) in [(0, 400), (1, 200), (10, 200), (11, 400)] {
        let body =
          #"{"codes":[\#([String](repeating: order, count: count).joined(separator: ","))]}"#
        let answer = try await server.admin(VerificationRoute.batchIssue, body)
        #expect(answer.status == status)
        if status == 400 { #expect(answer.refusal == "400 unparsable_request") }
      }
      let mixed =
        #"{"codes":[\#(order),{"testType":"strange"},{"testType":"confirmed","testDate":"1999-01-01"},\#(order)]}"#
      let answer = try await server.admin(VerificationRoute.batchIssue, mixed)
      #expect(answer.status == 400)
      let batch = try JSONDecoder().decode(BatchIssueAnswer.self, from: answer.body)
      #expect(batch.errorCode == .invalidTestType)
      let fates = batch.codes.map { item in
        if case .refused(let failure) = item { failure.errorCode.rawValue } else { "issued" }
      }
      #expect(fates == ["issued", "invalid_test_type", "invalid_date", "issued"])
      for case .issued(let issued) in batch.codes {
        #expect(try await server.verify(issued.code).status == 200)
      }
      let inner = #"{"codes":[{"testType":"confirmed","strange":1}]}"#
      #expect(
        try await server.admin(VerificationRoute.batchIssue, inner).refusal
          == "400 unparsable_request")
    }
  }

  @Test("5.5 A batch that meets a failing database is 503, one beyond the quota 429: both say when")
  func batchRetry() async throws {
    let order = #"{"testType":"confirmed"}"#
    let body = #"{"codes":[\#(order),\#(order)]}"#
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(issuesPerApiKey: 3)
    ) { server async throws in
      _ = try await server.issue()
      _ = try await server.issue()
      let quota = try await server.admin(VerificationRoute.batchIssue, body)
      #expect(quota.status == 429 && quota.headers["retry-after"] == "86400")
      let batch = try JSONDecoder().decode(BatchIssueAnswer.self, from: quota.body)
      #expect(batch.errorCode == .quotaExceeded)
      guard case .issued = batch.codes.first else { Issue.record("the first is lost"); return }
      server.clock.advance(86_400)
      let queue = try DatabaseQueue(path: server.configuration.databaseFile.path)
      try await queue.write { try $0.execute(sql: "ALTER TABLE spelling RENAME TO away") }
      let failing = try await server.admin(VerificationRoute.batchIssue, body)
      #expect(failing.status == 503 && failing.headers["retry-after"] == "30")
      let refused = try JSONDecoder().decode(BatchIssueAnswer.self, from: failing.body)
      #expect(refused.errorCode == .internalServerError)
      try await queue.write { try $0.execute(sql: "ALTER TABLE away RENAME TO spelling") }
      #expect(try await server.admin(VerificationRoute.batchIssue, body).status == 200)
    }
  }

  @Test("2.8 Where batches are switched off they are refused")
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

  @Test("2.8 A laboratory sees what became of its codes, and ends them; another key does neither")
  func fate() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue()
      let before = try await server.fate(issued.uuid)
      #expect(
        before
          == CodeStatusAnswer(
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
      let ended = try await server.fate(issued.uuid, VerificationRoute.expireCode)
      #expect(ended.claimed == nil && ended.expiresAtTimestamp == 1_799_999_999)
      #expect(try await server.verify(issued.code).refusal == "400 code_expired")
      // Ending it again changes nothing.
      server.clock.advance(10)
      #expect(try await server.fate(issued.uuid, VerificationRoute.expireCode) == ended)
    }
  }

  @Test("Seed 2.5: a batch is 1 to 1000 codes, half an hour or whole hours up to a day")
  func seedBatch() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for (count, duration, status) in [
        (0, 1_800, 400), (1, 1_800, 200), (1_000, 1_800, 200), (1_001, 1_800, 400),
        (1, 1_799, 400), (1, 1_801, 400), (1, 3_599, 400), (1, 3_600, 200), (1, 3_601, 400),
        (1, 7_200, 200), (1, 86_400, 200), (1, 90_000, 400), (1, 0, 400), (1, -3_600, 400),
      ] {
        let body = #"{"data":{"duration":\#(duration),"numberOfCodes":\#(count)}}"#
        let answer = try await server.post(
          VerificationRoute.generateCodesBatch, body,
          headers: [VerificationRoute.apiTokenHeader: RunningServer.apiToken])
        #expect(answer.status == status, "\(count) \(duration)")
        guard status == 200 else {
          #expect(answer.failure?.error.status == .invalidArgument)
          continue
        }
        let codes = try #require(answer.codes)
        #expect(Set(codes).count == count)
        #expect(codes.allSatisfy { VerificationCode($0) != nil })
      }
    }
  }

  @Test(
    "Seed 2.5: codes of a batch live as long as was asked, and nobody gets one without the token")
  func seedBatchLifetime() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let body = #"{"data":{"duration":7200,"numberOfCodes":2}}"#
      let codes = try #require(
        try await server.post(
          VerificationRoute.generateCodesBatch, body,
          headers: [VerificationRoute.apiTokenHeader: RunningServer.apiToken]
        ).codes)
      server.clock.advance(7_200)
      #expect(try await server.redeem(codes[0]).status == 200)
      server.clock.advance(1)
      #expect(try await server.redeem(codes[1]).status == 404)
      #expect(try await server.post(VerificationRoute.generateCodesBatch, body).status == 403)
      for wrong in [
        #"{"data":{"duration":"7200","numberOfCodes":2}}"#, #"{"data":{"numberOfCodes":2}}"#,
        #"{"data":{"duration":1800}}"#, #"{"data":{"duration":1800,"numberOfCodes":1.5}}"#,
        #"{"data":null}"#, "[]",
      ] {
        let answer = try await server.post(
          VerificationRoute.generateCodesBatch, wrong,
          headers: [VerificationRoute.apiTokenHeader: RunningServer.apiToken])
        #expect(answer.status == 400)
      }
    }
  }
}
