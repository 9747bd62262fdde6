// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import ServerStorage
import VerificationAPI
import World

/// The reports of people about their own tests, from apps and from the page.
///
/// Neither a result nor its duration reveals if an SMS was sent, and so if a phone number has reported before.
struct UserReports: Sendable {
  let codeIssuer: CodeIssuer
  let sms: SMSConfiguration?
  /// Counts reports by address and network: each may cost an SMS, so valid reports count like failures.
  let budget: FailureBudget
  let quota: IssueQuota
  let attempts: AttemptCounter
  /// The recent times of reports whose code was stored and sent.
  let sendTimes: ResponseTimes

  /// True if the server accepts reports.
  var isOffered: Bool { codeIssuer.policy.allowsUserReport && sms != nil }

  /// Sends a code for a report, unless its phone must wait.
  ///
  /// - Parameter key: The API key of the app; nil for the page.
  /// - Returns: The expiry of the short code, also if none was sent.
  /// - Throws: `QuietRefusal`.
  func accept(
    _ report: ValidatedUserReport, under key: APIKeyID?, in context: QuietContext
  ) async throws -> Date {
    try await budget.attempt(from: context) {
      try await quota.count(under: key)
      do {
        return .failed(try await process(report, context))
      } catch QuietRefusal.unavailable(let seconds) {
        await quota.refund(under: key)
        throw QuietRefusal.unavailable(retryAfterSeconds: seconds)
      }
    }
  }

  private func process(
    _ report: ValidatedUserReport, _ context: QuietContext
  ) async throws -> Date {
    let start = sendTimes.start()
    let outcome = try await QuietRefusal.mappingServerErrors(context.logger) {
      try await codeIssuer.issue(report.properties)
    }
    switch outcome {
    case .issued(let code):
      try await send(code, to: report.phone, context)
      attempts.count(.issued)
      try await sendTimes.finish(start, as: .success)
      return code.issued.expiresAt
    case .phoneBusy(let expiresAt):
      // As long as storing and sending a code.
      try await sendTimes.finish(start, as: .imitation)
      return expiresAt
    case .handleTaken: throw QuietRefusal.internalError
    }
  }

  /// Sends the code; if that fails, withdraws the code and the report of the phone.
  private func send(
    _ code: NewCode, to phone: PhoneNumber, _ context: QuietContext
  ) async throws {
    guard let sms else { throw QuietRefusal.internalError }
    context.excludeFromLoad()
    let delivery = SMSDelivery(configuration: sms)
    do throws(VerificationFailure) {
      try await delivery.send(
        delivery.message(
          of: code, label: nil, phone: phone, purpose: .userReport, now: codeIssuer.clock.now))
    } catch {
      try await QuietRefusal.mappingServerErrors(context.logger) {
        try await codeIssuer.storage.withdraw(code.handle, externalIssuer: nil)
      }
      throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
  }
}

/// A user report after all checks that need no database.
struct ValidatedUserReport: Sendable {
  let phone: PhoneNumber
  let properties: CodeProperties

  /// A report of an app.
  ///
  /// - Throws: The first error of `request`.
  init(
    _ request: UserReportRequest, isAllowed: Bool, now: Date
  ) throws(VerificationFailure) {
    guard isAllowed else {
      throw VerificationFailure(.unsupportedTestType, "This server accepts no user reports.")
    }
    guard let nonce = Data(base64Encoded: request.nonce ?? ""),
      nonce.count == VerificationLimit.nonceBytes
    else {
      throw VerificationFailure(
        .missingNonce, "nonce must be base64 of \(VerificationLimit.nonceBytes) bytes.")
    }
    try self.init(phone: request.phone ?? "", nonce: nonce) { () throws(VerificationFailure) in
      try TestDates.validated(
        symptomDate: request.symptomDate, testDate: request.testDate, tzOffset: request.tzOffset,
        isRequired: true, now: now)
    }
  }

  /// A report of the page, which has no app that could repeat a nonce.
  ///
  /// - Throws: The first error of the values.
  init(phone: String, testDate: String, now: Date) throws(VerificationFailure) {
    try self.init(phone: phone, nonce: nil) { () throws(VerificationFailure) in
      // A day that has begun anywhere on earth is today.
      try TestDates.validated(
        symptomDate: nil, testDate: testDate,
        tzOffset: VerificationLimit.timeZoneMinutes.upperBound, isRequired: true, now: now)
    }
  }

  private init(
    phone text: String, nonce: Data?, dates: () throws(VerificationFailure) -> TestDates
  ) throws(VerificationFailure) {
    guard let phone = PhoneNumber(text) else {
      throw VerificationFailure(.missingPhone, "phone must be + and 8 to 15 digits (E.164).")
    }
    let dates = try dates()
    self.phone = phone
    properties = CodeProperties(
      testResult: TestResult(.userReport, dates), wantsLink: true, nonce: nonce,
      reportingPhone: phone.text)
  }
}
