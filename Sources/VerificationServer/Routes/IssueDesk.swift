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
