import Foundation
import VerificationAPI

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
