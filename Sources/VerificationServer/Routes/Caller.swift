import Hummingbird
import QuietHTTP
import VerificationAPI

/// Who may use a route of Google's contract, and how often.
struct Caller: Sendable {
  let kind: ApiKeyKind
  let check: ApiKeyCheck
  let netmasks: Netmasks
  /// Guesses at API keys, by address.
  let attempts: Attempts
  let isInMaintenance: Bool

  /// Looks at the address and then at the API key before the body is read; decoys show one as well. From
  /// elsewhere no key is looked at, so nobody there can try one, and the two refusals are one.
  func gate(headers: HTTPFields, context: QuietContext) async throws -> QuietAnswer? {
    if isInMaintenance {
      return try QuietAnswer(
        VerificationFailure(.maintenanceMode, "The server is being worked on; try again later."),
        retryAfterSeconds: Self.maintenanceSeconds)
    }
    guard netmasks.contain(context) else { return try refusal() }
    try await attempts.check(context)
    let holder = try await QuietRefusal.whereStorageFails(context.logger) {
      try await check.holder(of: headers[.apiKey], kind: kind)
    }
    guard holder != nil else {
      try await attempts.count(from: context)
      return try refusal()
    }
    return nil
  }

  private func refusal() throws -> QuietAnswer {
    try QuietAnswer(
      VerificationFailure(
        .unauthorized,
        "\(VerificationRoute.apiKeyHeader) must be a key of kind \(kind.rawValue),"
          + " shown from where its holders may ask."))
  }

  private static let maintenanceSeconds = 600
}

extension QuietRequest {
  /// The API key that the gate let in.
  var apiKeyID: ApiKeyID? { ApiKeyText(headers[.apiKey])?.id }
}
