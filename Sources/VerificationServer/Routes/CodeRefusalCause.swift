// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import QuietHTTP
import ServerStorage
import VerificationAPI

/// The cause of a refused request, for the operator. Several causes have one response.
struct CodeRefusalCause: Sendable {
  /// The name in the counts.
  let name: String
  /// The remedy that the operator can try.
  let advice: String

  static let address = CodeRefusalCause(
    name: "address", advice: "check applicationNetmasks, operatorNetmasks and trustedProxies")
  static let apiKey = CodeRefusalCause(
    name: "API key", advice: "check `api-key list`, `api-token` and the kind of the key")
  static let codeForm = CodeRefusalCause(
    name: "form of code", advice: "what is entered is no code: check the app")
  static let code = CodeRefusalCause(
    name: "unknown or used code", advice: "users mistype codes, or enter them twice")
  static let expiredCode = CodeRefusalCause(
    name: "expired code", advice: "codes reach their users late: check their lifetime")
  static let testType = CodeRefusalCause(
    name: "test type", advice: "the app does not accept the codes that are issued")
  static let token = CodeRefusalCause(
    name: "verification token",
    advice: "tokens expire before they are used, or are sent again with other keys")

  /// The names of all causes.
  static let names =
    [address, apiKey, codeForm, code, expiredCode, testType, token].map(\.name)
}

extension RefusalLog {
  /// Logs and counts a refusal.
  func record(_ cause: CodeRefusalCause, at context: QuietContext) {
    record(
      cause.name, route: context.endpointPath ?? "-", advice: cause.advice,
      requestLogger: context.logger)
  }
}

extension CodeVerifier.Outcome {
  /// The cause of a refusal; nil if the code was verified.
  var cause: CodeRefusalCause? {
    switch self {
    case .verified: nil
    case .invalid, .invalidNonce: .code
    case .expired: .expiredCode
    case .unsupported: .testType
    }
  }

  /// The event for the statistics; nil for none.
  var event: AttemptCount.Event? {
    switch self {
    case .verified(_, _, isFirst: true): .codeClaimed
    case .invalid, .invalidNonce, .expired: .codeInvalid
    // The code stays unused.
    case .verified, .unsupported: nil
    }
  }

  /// The event of a user report for the statistics; nil for none.
  var reportEvent: UserReportEvent? {
    switch self {
    case .verified(let result, _, isFirst: true) where result.testType == .userReport: .claimed
    case .invalidNonce: .invalidNonce
    default: nil
    }
  }
}

extension CertificateExchange.Outcome {
  /// The event for the statistics; nil for none.
  var event: AttemptCount.Event? {
    switch self {
    case .certified(_, _, isFirst: true): .tokenClaimed
    case .certified: nil
    case .invalid, .expired: .tokenInvalid
    }
  }

  /// The event of a user report for the statistics; nil for none.
  var reportEvent: UserReportEvent? {
    if case .certified(_, .userReport, isFirst: true) = self { .tokenClaimed } else { nil }
  }
}
