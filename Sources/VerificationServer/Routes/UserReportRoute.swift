import Foundation
import Hummingbird
import Logging
import QuietHTTP
import VerificationAPI
import World

/// POST /api/user-report: a code by SMS for a test that the user made.
///
/// Neither the response nor its duration reveals if an SMS was sent, and so if a phone number has reported a
/// test before.
struct UserReportRoute: Sendable {
  let codeIssuer: CodeIssuer
  let sms: SMSConfiguration?
  let gate: APIKeyGate
  /// Counts reports by address and network: each may cost an SMS, so valid reports count like failures.
  let reports: FailureBudget
  let quota: IssueQuota
  /// The recent times of reports whose code was stored and sent.
  let sendTimes: ResponseTimes

  private typealias Request = GoogleRoute<UserReportRequest>.Request

  func add(to router: Router<QuietContext>) {
    GoogleRoute<UserReportRequest>(gate: gate, randomness: codeIssuer.randomness)
      .add(VerificationRoute.userReport, to: router, decoy: decoy, respond: respond)
  }

  private func respond(_ request: Request) async throws -> PaddedResponse {
    let report: ValidatedUserReport
    do throws(VerificationFailure) {
      report = try ValidatedUserReport(
        request.body.body, isAllowed: codeIssuer.policy.allowsUserReport && sms != nil,
        now: codeIssuer.clock.now)
    } catch {
      return try PaddedResponse(error)
    }
    return try await reports.attempt(from: request.context) {
      try await quota.count(under: request.apiKeyID)
      do {
        return .failed(try await process(report, request))
      } catch QuietRefusal.unavailable(let seconds) {
        await quota.refund(under: request.apiKeyID)
        throw QuietRefusal.unavailable(retryAfterSeconds: seconds)
      }
    }
  }

  private func process(_ report: ValidatedUserReport, _ request: Request) async throws
    -> PaddedResponse
  {
    let start = sendTimes.start()
    let outcome = try await QuietRefusal.mappingStorageErrors(request.context.logger) {
      try await codeIssuer.issue(report.properties)
    }
    switch outcome {
    case .issued(let code):
      try await send(code, to: report.phone, request)
      try await sendTimes.finish(start, as: .success)
      return try response(code.issued.expiresAt)
    case .phoneBusy(let expiresAt):
      // As long as storing and sending a code.
      try await sendTimes.finish(start, as: .imitation)
      return try response(expiresAt)
    case .handleTaken: throw QuietRefusal.internalError
    }
  }

  /// Sends the code; if that fails, withdraws the code and the report of the phone.
  private func send(_ code: NewCode, to phone: PhoneNumber, _ request: Request) async throws {
    guard let sms else { throw QuietRefusal.internalError }
    request.context.excludeFromLoad()
    let delivery = SMSDelivery(configuration: sms)
    do throws(VerificationFailure) {
      try await delivery.send(
        delivery.message(
          of: code, label: nil, phone: phone, purpose: .userReport, now: codeIssuer.clock.now))
    } catch {
      request.context.logger.error(
        "SMS not sent: the gateway failed; the code is withdrawn",
        metadata: ["kind": "\(error.errorCode.rawValue)"])
      try await QuietRefusal.mappingStorageErrors(request.context.logger) {
        try await codeIssuer.storage.withdraw(code.handle)
      }
      throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
  }

  private func response(_ expiresAt: Date) throws -> PaddedResponse {
    try PaddedResponse(
      UserReportResponse(
        expiresAt: UTCTime.rfc1123(expiresAt), expiresAtTimestamp: expiresAt.unixSecond))
  }

  /// Responds as if a code had been sent.
  private func decoy(
    _ request: GoogleRoute<UserReportRequest>.DecoyRequest
  ) async throws -> PaddedResponse {
    try response(codeIssuer.clock.now.addingTimeInterval(codeIssuer.policy.shortCodeLifetime))
  }
}

/// A user report after all checks that need no database.
struct ValidatedUserReport: Sendable {
  let phone: PhoneNumber
  let properties: CodeProperties

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
    guard let phone = PhoneNumber(request.phone ?? "") else {
      throw VerificationFailure(.missingPhone, "phone must be + and 8 to 15 digits (E.164).")
    }
    let dates = try TestDates.validated(
      symptomDate: request.symptomDate, testDate: request.testDate, tzOffset: request.tzOffset,
      isRequired: true, now: now)
    self.phone = phone
    properties = CodeProperties(
      testResult: TestResult(.userReport, dates), wantsLink: true, nonce: nonce,
      reportingPhone: phone.text)
  }
}
