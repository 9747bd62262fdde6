import Foundation
import Logging
import QuietHTTP
import VerificationAPI
import World

/// Takes orders for codes of Google's contract, one at a time: checks them, issues, sends.
///
/// Documentation/VerificationServer.md 3.2 to 3.5.
struct IssueDesk: Sendable {
  let issuance: CodeIssuance
  let sms: SMSConfiguration?
  let attempts: Attempts

  /// What became of an order.
  typealias Result = Swift.Result<IssueAnswer, VerificationFailure>

  private var policy: CodePolicy { issuance.policy }

  /// The code that `asked` orders under `key`.
  ///
  /// - Throws: `QuietRefusal` where nothing could be kept, or the key has issued too many.
  func issue(_ asked: IssueRequest, under key: ApiKeyID?, _ logger: Logger) async throws -> Result {
    let plan: IssuePlan
    do throws(VerificationFailure) {
      plan = try IssuePlan(asked, policy: policy, sms: sms, now: issuance.clock.now)
    } catch {
      return .failure(error)
    }
    // A name that is taken costs no quota.
    if let handle = plan.order.handle, try await isTaken(handle, logger) { return .failure(.taken) }
    try await attempts.countIssue(under: key)
    let order = plan.order.issued(under: key)
    let outcome: OrderOutcome
    do throws(QuietRefusal) {
      outcome = try await QuietRefusal.whereStorageFails(logger) {
        try await issuance.issue(order)
      }
    } catch {
      await attempts.forgiveIssue(under: key)
      throw error
    }
    guard case .issued(let code) = outcome else {
      await attempts.forgiveIssue(under: key)
      return .failure(.taken)
    }
    return try await answer(code, plan, under: key, logger)
  }

  private func isTaken(_ handle: UUID, _ logger: Logger) async throws -> Bool {
    try await QuietRefusal.whereStorageFails(logger) {
      try await issuance.storage.fate(handle) != nil
    }
  }

  private func answer(
    _ code: NewCode, _ plan: IssuePlan, under key: ApiKeyID?, _ logger: Logger
  ) async throws -> Result {
    var answer = IssueAnswer(code)
    guard let phone = plan.phone, let sms else { return .success(answer) }
    do throws(VerificationFailure) {
      let delivery = SMSDelivery(configuration: sms)
      let message = try delivery.message(
        of: code, label: plan.templateLabel, phone: phone, purpose: .report,
        now: issuance.clock.now)
      if plan.onlyGenerates {
        answer.generatedSMS = message.text
        answer.phone = phone.text
      } else {
        try await delivery.send(message)
      }
      return .success(answer)
    } catch {
      try await QuietRefusal.whereStorageFails(logger) {
        try await issuance.storage.withdraw(code.handle)
      }
      await attempts.forgiveIssue(under: key)
      return .failure(error)
    }
  }
}

extension VerificationFailure {
  fileprivate static let taken = VerificationFailure(
    .uuidAlreadyExists, "There is a code with this uuid already.")
}

extension IssueAnswer {
  /// The answer that tells of `code`.
  init(_ code: NewCode) {
    self.init(
      uuid: code.handle.text, code: code.short.characters,
      expiresAt: CivilTime.rfc1123(code.kept.expiresAt),
      expiresAtTimestamp: code.kept.expiresAt.unixSecond)
    longExpiresAt = CivilTime.rfc1123(code.kept.longExpiresAt)
    longExpiresAtTimestamp = code.kept.longExpiresAt.unixSecond
  }
}

extension IssueDesk {
  /// The answer for a code that nobody can use: it is kept nowhere.
  func pretended() throws -> IssueAnswer {
    let policy = issuance.policy
    let code = ShortCode.drawn(digits: policy.shortCodeDigits, from: issuance.randomness)
    let expiresAt = issuance.clock.now.addingTimeInterval(policy.shortCodeLifetime)
    var answer = IssueAnswer(
      uuid: UUID(from: issuance.randomness).text, code: code?.characters ?? "",
      expiresAt: CivilTime.rfc1123(expiresAt), expiresAtTimestamp: expiresAt.unixSecond)
    answer.longExpiresAt = answer.expiresAt
    answer.longExpiresAtTimestamp = answer.expiresAtTimestamp
    return answer
  }
}

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
