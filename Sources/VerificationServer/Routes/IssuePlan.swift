import Foundation
import VerificationAPI

/// An order that has been checked against everything but the database.
struct IssuePlan: Sendable {
  let order: CodeOrder
  let phone: PhoneNumber?
  let templateLabel: String?
  let onlyGenerates: Bool

  /// - Throws: the first thing that is wrong with `asked`.
  init(
    _ asked: IssueRequest, policy: CodePolicy, sms: SMSConfiguration?, now: Date
  ) throws(VerificationFailure) {
    onlyGenerates = asked.onlyGenerateSMS ?? false
    guard !onlyGenerates || policy.allowsGeneratedSMS else {
      throw VerificationFailure(
        .unparsableRequest, "onlyGenerateSMS is not allowed on this server.")
    }
    let issuer = asked.externalIssuerID ?? ""
    guard issuer.count <= VerificationLimit.externalIssuerCharactersMax else {
      throw VerificationFailure(.unparsableRequest, "externalIssuerID is too long.")
    }
    let testType = try Self.testType(asked.testType, policy)
    let dates = try Self.dates(asked, policy, now: now)
    phone = try Self.phone(asked.phone, sms)
    templateLabel = asked.smsTemplateLabel
    if let label = templateLabel, !label.isEmpty, phone != nil, sms?.templates[label] == nil {
      throw VerificationFailure(
        .unparsableRequest, "smsTemplateLabel names no text of this server.")
    }
    order = CodeOrder(
      finding: Finding(testType, dates), handle: try Self.handle(asked.uuid),
      wantsLink: phone != nil)
  }

  private static func testType(
    _ name: String?, _ policy: CodePolicy
  ) throws(VerificationFailure) -> TestType {
    guard let type = TestType(rawValue: name ?? "") else {
      throw VerificationFailure(
        .invalidTestType, "testType must be confirmed, likely or negative.")
    }
    guard policy.testTypes.contains(type), type != .userReport else {
      throw VerificationFailure(
        .unsupportedTestType, "This server issues no codes of this testType.")
    }
    return type
  }

  /// The days of the request, once they make sense.
  static func dates(
    _ asked: IssueRequest, _ policy: CodePolicy, now: Date
  ) throws(VerificationFailure) -> FindingDates {
    let dates: FindingDates
    do throws(FindingDates.Fault) {
      dates = try FindingDates(
        symptomDate: asked.symptomDate, testDate: asked.testDate, tzOffset: asked.tzOffset, now: now
      )
    } catch {
      switch error {
      case .unreadable:
        throw VerificationFailure(
          .unparsableRequest, "Dates must be days as YYYY-MM-DD, tzOffset minutes from UTC.")
      case .outOfRange:
        throw VerificationFailure(
          .invalidDate,
          "Dates must not be to come, nor more than \(VerificationLimit.symptomAgeDaysMax) days ago."
        )
      }
    }
    guard !dates.isEmpty || !policy.requiresDate else {
      throw VerificationFailure(.missingDate, "This server wants symptomDate or testDate.")
    }
    return dates
  }

  private static func phone(
    _ text: String?, _ sms: SMSConfiguration?
  ) throws(VerificationFailure) -> PhoneNumber? {
    guard let text, !text.isEmpty else { return nil }
    guard let phone = PhoneNumber(text) else {
      throw VerificationFailure(.phoneNumberInvalid, "phone must be + and 8 to 15 digits (E.164).")
    }
    guard sms != nil else {
      throw VerificationFailure(.smsFailure, "This server sends no SMS; ask without a phone.")
    }
    return phone
  }

  private static func handle(_ text: String?) throws(VerificationFailure) -> UUID? {
    guard let text, !text.isEmpty else { return nil }
    guard let handle = UUID(uuidString: text) else {
      throw VerificationFailure(.unparsableRequest, "uuid must be a UUID.")
    }
    return handle
  }
}
