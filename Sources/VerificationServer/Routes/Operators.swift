import CallableEnvelope
import Hummingbird
import QuietHTTP
import VerificationAPI

/// The health authority's own systems, by the api token they show.
///
/// Documentation/SeedContract.md 2.2.
struct Operators: Sendable {
  let apiTokens: ApiTokens
  let attempts: Attempts

  /// Looks at the api token before the body is read; decoys show one as well.
  func gate(headers: HTTPFields, context: QuietContext) async throws -> QuietAnswer? {
    try await attempts.check(context)
    let shown = HTTPFields.Element.Name(VerificationRoute.apiTokenHeader).flatMap { headers[$0] }
    guard apiTokens.contain(shown) else {
      try await attempts.count(from: context)
      return try QuietAnswer(CallableFailure(.permissionDenied))
    }
    return nil
  }
}
