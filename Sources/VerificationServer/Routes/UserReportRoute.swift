import Foundation
import Hummingbird
import Logging
import QuietHTTP
import VerificationAPI
import World

/// POST /api/user-report: a code by SMS for somebody who reports a test of their own.
///
/// Documentation/VerificationServer.md 3.8. Whether an SMS was sent is not said: nobody can ask this server whether
/// somebody has reported, by the answer or by the time it takes.
struct UserReportRoute: Sendable {
  let issuance: CodeIssuance
  let sms: SMSConfiguration?
  let caller: Caller
  let attempts: Attempts
  /// How long the SMS gateway takes.
  let sendTimes: AnswerTimes

  private typealias Question = GoogleRoute<UserReportRequest>.Question

  func add(to router: Router<QuietContext>) {
    GoogleRoute<UserReportRequest>(caller: caller, randomness: issuance.randomness)
      .add(VerificationRoute.userReport, to: router, decoy: decoy, answer: answer)
  }

  private func answer(_ request: Question) async throws -> QuietAnswer {
    let report: UserReport
    do throws(VerificationFailure) {
      report = try UserReport(
        request.body.body, isAllowed: issuance.policy.allowsUserReport && sms != nil,
        now: issuance.clock.now)
    } catch {
      return try QuietAnswer(error)
    }
    // Each report may cost an SMS, so good ones are not given back.
    try await attempts.count(from: request.context)
    try await attempts.countIssue(under: request.apiKeyID)
    do {
      return try await taken(report, request)
    } catch QuietRefusal.unavailable(let seconds) {
      await attempts.forgive(request.context)
      await attempts.forgiveIssue(under: request.apiKeyID)
      throw QuietRefusal.unavailable(retryAfterSeconds: seconds)
    }
  }

  private func taken(_ report: UserReport, _ request: Question) async throws -> QuietAnswer {
    let outcome = try await QuietRefusal.whereStorageFails(request.context.logger) {
      try await issuance.issue(report.order)
    }
    switch outcome {
    case .issued(let code):
      try await send(code, to: report.phone, request)
      return try said(code.kept.expiresAt)
    case .phoneBusy(let expiresAt):
      try await sendTimes.wait(since: .now)
      return try said(expiresAt)
    case .handleTaken: throw QuietRefusal.ourFault
    }
  }

  /// Sends the code; where that fails it is taken back, with the note that this phone reported.
  private func send(_ code: NewCode, to phone: PhoneNumber, _ request: Question) async throws {
    guard let sms else { throw QuietRefusal.ourFault }
    let delivery = SMSDelivery(configuration: sms)
    let start = ContinuousClock.now
    do throws(VerificationFailure) {
      try await delivery.send(
        delivery.message(
          of: code, label: nil, phone: phone, purpose: .userReport, now: issuance.clock.now))
      sendTimes.remember(ContinuousClock.now - start)
    } catch {
      request.context.logger.error("no SMS", metadata: ["kind": "\(error.errorCode.rawValue)"])
      try await QuietRefusal.whereStorageFails(request.context.logger) {
        try await issuance.storage.withdraw(code.handle)
      }
      throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
  }

  private func said(_ expiresAt: Date) throws -> QuietAnswer {
    try QuietAnswer(
      UserReportAnswer(
        expiresAt: CivilTime.rfc1123(expiresAt), expiresAtTimestamp: expiresAt.unixSecond))
  }

  /// Answers as if a code had been sent.
  private func decoy(
    _ request: GoogleRoute<UserReportRequest>.DecoyQuestion
  ) async throws -> QuietAnswer {
    try said(issuance.clock.now.addingTimeInterval(issuance.policy.shortCodeLifetime))
  }
}

/// A report that has been checked against everything but the database.
struct UserReport: Sendable {
  let phone: PhoneNumber
  let order: CodeOrder

  /// - Throws: the first thing that is wrong with `asked`.
  init(
    _ asked: UserReportRequest, isAllowed: Bool, now: Date
  ) throws(VerificationFailure) {
    guard isAllowed else {
      throw VerificationFailure(.unsupportedTestType, "This server takes no user reports.")
    }
    guard let nonce = Data(base64Encoded: asked.nonce ?? ""),
      nonce.count == VerificationLimit.nonceBytes
    else {
      throw VerificationFailure(
        .missingNonce, "nonce must be base64 of \(VerificationLimit.nonceBytes) bytes.")
    }
    guard let text = asked.phone, !text.isEmpty else {
      throw VerificationFailure(.missingPhone, "phone must be + and 8 to 15 digits (E.164).")
    }
    guard let phone = PhoneNumber(text) else {
      throw VerificationFailure(.missingPhone, "phone must be + and 8 to 15 digits (E.164).")
    }
    var request = IssueRequest()
    request.symptomDate = asked.symptomDate
    request.testDate = asked.testDate
    request.tzOffset = asked.tzOffset
    var policy = CodePolicy()
    policy.requiresDate = true
    let dates = try IssuePlan.dates(request, policy, now: now)
    self.phone = phone
    order = CodeOrder(
      finding: Finding(.userReport, dates), wantsLink: true, nonce: nonce,
      reportingPhone: phone.text)
  }
}
