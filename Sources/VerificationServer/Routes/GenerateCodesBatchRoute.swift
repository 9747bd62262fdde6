import CallableEnvelope
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI

/// POST /generateCodesBatch: many new codes for the health authority's own systems.
///
/// Documentation/SeedContract.md 2.5.
struct GenerateCodesBatchRoute: Sendable {
  typealias Route = CallableRoute<GenerateCodesBatchRequest>

  let issuance: CodeIssuance
  let operators: Operators

  func add(to router: Router<QuietContext>) {
    Route(randomness: issuance.randomness, gate: operators.gate)
      .add(VerificationRoute.generateCodesBatch, to: router, decoy: decoy, answer: answer)
  }

  private func answer(_ request: Route.Question) async throws -> QuietAnswer {
    guard let count = request.body.data?.numberOfCodes,
      VerificationLimit.batchCodes.contains(count),
      let duration = request.body.data?.duration, Self.isLifetime(duration)
    else {
      return try QuietAnswer(
        CallableFailure(
          .invalidArgument,
          message:
            "numberOfCodes must be 1 to 1000, duration 1800 or a multiple of 3600 up to 86400."
        ))
    }
    let codes = try await QuietRefusal.whereStorageFails(request.context.logger) {
      try await issuance.codes(
        count, for: Finding(testType: .confirmed), lifetime: TimeInterval(duration))
    }
    return try QuietAnswer(CallableAnswer(result: codes.map(\.characters)))
  }

  /// Half an hour, or whole hours up to a day, in seconds.
  private static func isLifetime(_ seconds: Int) -> Bool {
    seconds == 1_800 || ((3_600...86_400).contains(seconds) && seconds % 3_600 == 0)
  }

  /// As many codes as were asked for, of which none is kept.
  private func decoy(_ request: Route.DecoyQuestion) async throws -> QuietAnswer {
    let limits = VerificationLimit.batchCodes
    let count = request.body?.data?.numberOfCodes ?? limits.lowerBound
    let wanted = min(max(count, limits.lowerBound), limits.upperBound)
    let codes = (0..<wanted).map { _ in VerificationCode.drawn(from: issuance.randomness) }
    return try QuietAnswer(CallableAnswer(result: codes.map(\.characters)))
  }
}
