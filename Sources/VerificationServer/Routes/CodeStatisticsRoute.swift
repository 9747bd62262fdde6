import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// GET /api/stats/realm.json: the numbers of codes by day, for the health authority.
struct CodeStatisticsRoute: Sendable {
  let storage: any CodeStorage
  let gate: APIKeyGate
  let randomness: any Randomness

  func add(to router: Router<QuietContext>) {
    router.get(RouterPath(VerificationRoute.statistics)) { request, context in
      try await response(request, context).response(padding: randomness)
    }
  }

  private func response(
    _ request: Request, _ context: QuietContext
  ) async throws -> PaddedResponse {
    do {
      if let refused = try await gate.check(headers: request.headers, context: context) {
        return refused
      }
      let counts = try await QuietRefusal.mappingStorageErrors(context.logger) {
        try await storage.counts()
      }
      return try PaddedResponse(CodeStatisticsResponse(statistics: counts.map(\.statistics)))
    } catch let refusal as QuietRefusal {
      return try PaddedResponse(refusal, form: .google)
    }
  }
}
