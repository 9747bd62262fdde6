import CallableEnvelope
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /generateCode: a new code for the health authority's own systems.
///
/// Documentation/SeedContract.md 2.2 and 2.3.
struct GenerateCodeRoute: Sendable {
  typealias Route = CallableRoute<GenerateCodeRequest>

  let issuance: CodeIssuance
  let operators: Operators

  func add(to router: Router<QuietContext>) {
    Route(randomness: issuance.randomness, gate: operators.gate)
      .add(VerificationRoute.generateCode, to: router, decoy: decoy, answer: answer)
  }

  private func answer(_ request: Route.Question) async throws -> QuietAnswer {
    let wanted = request.body.data ?? GenerateCodeRequest()
    guard let finding = Finding(wanted, now: issuance.clock.now) else {
      return try QuietAnswer(
        CallableFailure(
          .invalidArgument,
          message: "testType must be confirmed, symptomDate a day of the last"
            + " \(VerificationLimit.symptomAgeDaysMax) days as YYYY-MM-DD."))
    }
    let code = try await QuietRefusal.whereStorageFails(request.context.logger) {
      try await issuance.code(for: finding)
    }
    return try QuietAnswer(CallableAnswer(result: code.characters))
  }

  /// Draws a code and keeps none.
  private func decoy(_ request: Route.DecoyQuestion) async throws -> QuietAnswer {
    let code = VerificationCode.drawn(from: issuance.randomness)
    return try QuietAnswer(CallableAnswer(result: code.characters))
  }
}

extension Finding {
  /// The finding that is asked for; nil where the request makes no sense at `now`.
  fileprivate init?(_ request: GenerateCodeRequest, now: Date) {
    guard [nil, TestType.confirmed.rawValue].contains(request.testType),
      request.symptomDate != "",
      let dates = try? FindingDates(symptomDate: request.symptomDate, testDate: nil, now: now)
    else { return nil }
    self.init(.confirmed, dates)
  }
}
