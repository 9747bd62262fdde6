import Hummingbird
import QuietHTTP
import VerificationAPI

/// POST /api/issue: a new code for the health authority's own systems.
///
/// Documentation/VerificationServer.md 3.2.
struct IssueRoute: Sendable {
  let desk: IssueDesk
  let caller: Caller

  func add(to router: Router<QuietContext>) {
    GoogleRoute<IssueRequest>(caller: caller, randomness: desk.issuance.randomness)
      .add(VerificationRoute.issue, to: router, decoy: decoy, answer: answer)
  }

  private func answer(_ request: GoogleRoute<IssueRequest>.Question) async throws -> QuietAnswer {
    let result = try await desk.issue(
      request.body.body, under: request.apiKeyID, request.context.logger)
    switch result {
    case .success(let answer): return try QuietAnswer(answer)
    case .failure(let failure): return try QuietAnswer(failure)
    }
  }

  /// Draws a code and keeps none.
  private func decoy(
    _ request: GoogleRoute<IssueRequest>.DecoyQuestion
  ) async throws -> QuietAnswer {
    try QuietAnswer(desk.pretended())
  }
}
