// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import ServerStorage
import VerificationAPI
import World

/// Issues the codes of `/api/issue` and `/api/batch-issue`: validates a request, issues the code, sends the SMS.
struct IssueRequestHandler: Sendable {
  let codeIssuer: CodeIssuer
  let sms: SMSConfiguration?
  let quota: IssueQuota

  typealias Result = Swift.Result<IssueResponse, VerificationFailure>

  private var policy: CodePolicy { codeIssuer.policy }

  /// Issues the code of `request` for the API key `key`.
  ///
  /// - Throws: `QuietRefusal` if nothing could be stored, or the API key has issued too many codes.
  func issue(_ request: IssueRequest, under key: APIKeyID?, _ logger: Logger) async throws -> Result
  {
    let validated: ValidatedIssueRequest
    do throws(VerificationFailure) {
      validated = try ValidatedIssueRequest(
        request, policy: policy, sms: sms, now: codeIssuer.clock.now)
    } catch {
      return .failure(error)
    }
    let isCanary = try await isCanary(key, logger)
    guard !isCanary || validated.phone == nil else { return .failure(.canaryPhone) }
    // A request with a UUID that exists does not count against the quota.
    if let handle = validated.properties.handle, try await isTaken(handle, logger) {
      return .failure(.taken)
    }
    try await quota.count(under: key, isCanary: isCanary)
    let properties = validated.properties.issued(under: key)
    let outcome: CodeRequestOutcome
    do throws(QuietRefusal) {
      outcome = try await QuietRefusal.mappingServerErrors(logger) {
        try await codeIssuer.issue(properties)
      }
    } catch {
      await quota.refund(under: key, isCanary: isCanary)
      throw error
    }
    guard case .issued(let code) = outcome else {
      await quota.refund(under: key, isCanary: isCanary)
      return .failure(.taken)
    }
    return try await respond(code, validated, under: key, logger)
  }

  private func isCanary(_ key: APIKeyID?, _ logger: Logger) async throws -> Bool {
    guard let key else { return false }
    return try await QuietRefusal.mappingServerErrors(logger) {
      try await codeIssuer.storage.apiKey(key)?.kind == .canary
    }
  }

  private func isTaken(_ handle: UUID, _ logger: Logger) async throws -> Bool {
    try await QuietRefusal.mappingServerErrors(logger) {
      try await codeIssuer.storage.status(of: handle) != nil
    }
  }

  private func respond(
    _ code: NewCode, _ validated: ValidatedIssueRequest, under key: APIKeyID?, _ logger: Logger
  ) async throws -> Result {
    var response = IssueResponse(code)
    guard let phone = validated.phone, let sms else { return .success(response) }
    do throws(VerificationFailure) {
      let delivery = SMSDelivery(configuration: sms)
      let message = try delivery.message(
        of: code, label: validated.templateLabel, phone: phone, purpose: .report,
        now: codeIssuer.clock.now)
      if validated.onlyGenerates {
        response.generatedSMS = message.text
        response.phone = phone.text
      } else {
        try await delivery.send(message)
      }
      return .success(response)
    } catch {
      try await QuietRefusal.mappingServerErrors(logger) {
        try await codeIssuer.storage.withdraw(
          code.handle, externalIssuer: code.issued.externalIssuer)
      }
      await quota.refund(under: key)
      return .failure(error)
    }
  }
}

extension VerificationFailure {
  fileprivate static let taken = VerificationFailure(
    .uuidAlreadyExists, "A code with this uuid exists.")
  fileprivate static let canaryPhone = VerificationFailure(
    .unparsableRequest, "A key of kind canary sends no SMS: leave out phone.")
}

extension IssueResponse {
  init(_ code: NewCode) {
    self.init(
      uuid: code.handle.text, code: code.typed.characters,
      expiresAt: UTCTime.rfc1123(code.issued.expiresAt),
      expiresAtTimestamp: code.issued.expiresAt.unixSecond)
    longExpiresAt = UTCTime.rfc1123(code.issued.longExpiresAt)
    longExpiresAtTimestamp = code.issued.longExpiresAt.unixSecond
  }
}

extension IssueRequestHandler {
  /// A response with a code that is not stored.
  func decoyResponse() throws -> IssueResponse {
    let policy = codeIssuer.policy
    let code = ShortCode.drawn(digits: policy.shortCodeDigits, from: codeIssuer.randomness)
    let expiresAt = codeIssuer.clock.now.addingTimeInterval(policy.shortCodeLifetime)
    var response = IssueResponse(
      uuid: UUID(from: codeIssuer.randomness).text, code: code?.characters ?? "",
      expiresAt: UTCTime.rfc1123(expiresAt), expiresAtTimestamp: expiresAt.unixSecond)
    response.longExpiresAt = response.expiresAt
    response.longExpiresAtTimestamp = response.expiresAtTimestamp
    return response
  }
}

/// A request for a code after all checks that need no database.
struct ValidatedIssueRequest: Sendable {
  let properties: CodeProperties
  let phone: PhoneNumber?
  let templateLabel: String?
  let onlyGenerates: Bool

  /// - Throws: The first error of `request`.
  init(
    _ request: IssueRequest, policy: CodePolicy, sms: SMSConfiguration?, now: Date
  ) throws(VerificationFailure) {
    onlyGenerates = request.onlyGenerateSMS ?? false
    guard !onlyGenerates || policy.allowsGeneratedSMS else {
      throw VerificationFailure(
        .unparsableRequest, "onlyGenerateSMS is not allowed on this server.")
    }
    let issuer = request.externalIssuerID ?? ""
    guard issuer.count <= VerificationLimit.externalIssuerCharactersMax else {
      throw VerificationFailure(.unparsableRequest, "externalIssuerID is too long.")
    }
    // PostgreSQL stores no U+0000, and no statistics show a line break.
    guard issuer.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
      throw VerificationFailure(
        .unparsableRequest, "externalIssuerID must not contain control characters.")
    }
    let testType = try Self.testType(request.testType, policy)
    let dates = try TestDates.validated(
      symptomDate: request.symptomDate, testDate: request.testDate, tzOffset: request.tzOffset,
      isRequired: policy.requiresDate, now: now)
    phone = try Self.phone(request.phone, sms)
    templateLabel = request.smsTemplateLabel
    if let label = templateLabel, !label.isEmpty, phone != nil, sms?.templates[label] == nil {
      throw VerificationFailure(
        .unparsableRequest, "smsTemplateLabel is not the label of a template of this server.")
    }
    properties = CodeProperties(
      testResult: TestResult(testType, dates), form: try Self.form(request.codeForm, testType),
      handle: try Self.handle(request.uuid), externalIssuer: issuer.isEmpty ? nil : issuer,
      wantsLink: phone != nil)
  }

  /// A PIN is for an upload, which needs a confirmed test in the ProteGO Safe contract.
  private static func form(
    _ name: String?, _ testType: TestType
  ) throws(VerificationFailure) -> CodeForm.Kind {
    guard let form = CodeForm.Kind(rawValue: name ?? CodeForm.Kind.short.rawValue) else {
      throw VerificationFailure(.unparsableRequest, "codeForm must be short or pin.")
    }
    guard form == .short || testType == .confirmed else {
      throw VerificationFailure(.unsupportedTestType, "A pin needs the testType confirmed.")
    }
    return form
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
        .unsupportedTestType, "This server does not issue codes of this testType.")
    }
    return type
  }

  private static func phone(
    _ text: String?, _ sms: SMSConfiguration?
  ) throws(VerificationFailure) -> PhoneNumber? {
    guard let text, !text.isEmpty else { return nil }
    guard let phone = PhoneNumber(text) else {
      throw VerificationFailure(.phoneNumberInvalid, "phone must be + and 8 to 15 digits (E.164).")
    }
    guard sms != nil else {
      throw VerificationFailure(.smsFailure, "This server sends no SMS: retry without phone.")
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

extension TestDates {
  /// Validates the dates of a request.
  static func validated(
    symptomDate: String?, testDate: String?, tzOffset: Double?, isRequired: Bool, now: Date
  ) throws(VerificationFailure) -> TestDates {
    let dates: TestDates
    do throws(TestDates.Invalid) {
      dates = try TestDates(
        symptomDate: symptomDate, testDate: testDate, tzOffset: tzOffset, now: now)
    } catch {
      switch error {
      case .unreadable:
        throw VerificationFailure(
          .unparsableRequest, "Dates must be days as YYYY-MM-DD, tzOffset minutes from UTC.")
      case .outOfRange:
        throw VerificationFailure(
          .invalidDate,
          "Dates must not be in the future or more than \(VerificationLimit.symptomAgeDaysMax) days ago."
        )
      }
    }
    guard !dates.isEmpty || !isRequired else {
      throw VerificationFailure(.missingDate, "This server requires symptomDate or testDate.")
    }
    return dates
  }
}

/// The quota of codes that an API key may issue in a day. All users of an app share its key. A canary has a small one.
struct IssueQuota: Sendable {
  private let limits: AttemptLimits
  private let keys: BudgetKeys
  private let issues: AttemptBudget
  private let canaryIssues: AttemptBudget
  private let usedUp: ServiceFailureLog?
  private let shared: SharedBudget?
  private let clock: any WallClock

  /// - Parameter logger: Gets a line when the quota of a key is used up.
  init(
    _ limits: AttemptLimits, clock: any WallClock, randomness: any Randomness,
    logger: Logger? = nil, shared: SharedBudget? = nil
  ) {
    self.limits = limits
    self.shared = shared
    self.clock = clock
    keys = BudgetKeys(from: randomness)
    issues = AttemptBudget(
      attempts: limits.issuesPerApiKey, windowSeconds: AttemptLimits.issueWindowSeconds,
      clock: clock)
    canaryIssues = AttemptBudget(
      attempts: limits.issuesPerCanary, windowSeconds: AttemptLimits.issueWindowSeconds,
      clock: clock)
    usedUp = logger.map {
      ServiceFailureLog(
        name: "issue of codes",
        advice:
          "raise attempts.issuesPerApiKey, or revoke the key if it is stolen; that of a canary is fixed",
        clock: clock,
        logger: $0)
    }
  }

  /// Counts a code issued with an API key.
  ///
  /// - Throws: `.quotaUsedUp` if the key has issued too many; `.unavailable` if the counters of all processes cannot be
  ///   reached.
  func count(under id: APIKeyID?, isCanary: Bool = false) async throws(QuietRefusal) {
    let budget = budget(isCanary)
    if let seconds = await budget.spend(key(of: id)) {
      throw refusal(of: id, quota: budget.attempts, seconds)
    }
    guard let shared else { return }
    let isLeft: Bool
    do {
      isLeft = try await shared.spend(
        name(of: id, isCanary), of: budget.attempts, windowSeconds: budget.windowSeconds)
    } catch {
      await budget.refund(key(of: id))
      throw .unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
    guard !isLeft else { return }
    await budget.refund(key(of: id))
    throw refusal(
      of: id, quota: budget.attempts, budget.windowSeconds / SharedLimit.partsOfWindow)
  }

  private func refusal(of id: APIKeyID?, quota: Int, _ seconds: Int) -> QuietRefusal {
    usedUp?.failed(
      "its quota of \(quota) codes a day is used up",
      part: id.map { "API key \($0.text)" } ?? "report page")
    return .quotaUsedUp(quota: quota, retryAfterSeconds: seconds)
  }

  /// Removes the latest issued code, which was not stored or not sent.
  func refund(under id: APIKeyID?, isCanary: Bool = false) async {
    let budget = budget(isCanary)
    await budget.refund(key(of: id))
    await shared?.refund(
      name(of: id, isCanary), of: budget.attempts, windowSeconds: budget.windowSeconds,
      at: clock.now)
  }

  private func name(of id: APIKeyID?, _ isCanary: Bool) -> String {
    "\(isCanary ? "canary" : "issuer") \(id?.text ?? "")"
  }

  private func budget(_ isCanary: Bool) -> AttemptBudget { isCanary ? canaryIssues : issues }

  private func key(of id: APIKeyID?) -> BudgetKey { keys.key(for: "api key \(id?.text ?? "")") }
}
