import CallableEnvelope
import Hummingbird
import QuietHTTP
import VerificationAPI

/// The health authority's own systems, by where they stand and the api token they show.
///
/// Documentation/SeedContract.md 2.3 and 2.6.
struct Operators: Sendable {
  let apiTokens: ApiTokens
  let netmasks: Netmasks
  let attempts: Attempts

  /// Looks at the address and then at the api token before the body is read; decoys show one as well. From
  /// elsewhere no token is looked at, so nobody there can try one, and the two refusals are one.
  func gate(headers: HTTPFields, context: QuietContext) async throws -> QuietAnswer? {
    guard netmasks.contain(context) else { return try Self.refusal() }
    try await attempts.check(context)
    let shown = HTTPFields.Element.Name(VerificationRoute.apiTokenHeader).flatMap { headers[$0] }
    guard apiTokens.contain(shown) else {
      try await attempts.count(from: context)
      return try Self.refusal()
    }
    return nil
  }

  private static func refusal() throws -> QuietAnswer {
    try QuietAnswer(
      CallableFailure(
        .permissionDenied,
        message: "Show a valid \(VerificationRoute.apiTokenHeader), from where operators may ask."))
  }
}
