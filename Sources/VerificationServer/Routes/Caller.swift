import Hummingbird
import QuietHTTP
import VerificationAPI

/// Who may use a route of Google's contract, and how often.
struct Caller: Sendable {
  let kind: ApiKeyKind
  let check: ApiKeyCheck
  /// Guesses at API keys, by address.
  let attempts: Attempts
  let isInMaintenance: Bool

  /// Looks at the API key before the body is read; decoys show one as well.
  func gate(headers: HTTPFields, context: QuietContext) async throws -> QuietAnswer? {
    if isInMaintenance {
      return try QuietAnswer(
        VerificationFailure(.maintenanceMode, "The server is being worked on; try again later."),
        retryAfterSeconds: Self.maintenanceSeconds)
    }
    try await attempts.check(context)
    let holder = try await QuietRefusal.whereStorageFails(context.logger) {
      try await check.holder(of: headers[.apiKey], kind: kind)
    }
    guard holder != nil else {
      try await attempts.count(from: context)
      return try QuietAnswer(
        VerificationFailure(
          .unauthorized,
          "\(VerificationRoute.apiKeyHeader) must be a key of kind \(kind.rawValue)."))
    }
    return nil
  }

  private static let maintenanceSeconds = 600
}

extension QuietRequest {
  /// The API key that the gate let in.
  var apiKeyID: ApiKeyID? { ApiKeyText(headers[.apiKey])?.id }
}
