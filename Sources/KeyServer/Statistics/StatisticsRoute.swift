import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP
import World

/// `POST /v1/stats` over HTTP.
struct StatisticsRoute: Sendable {
  typealias Body = Result<StatisticsRequest, StrictJSONError>

  let desk: StatisticsDesk
  let budget: AttemptBudget
  let budgetKeys: BudgetKeys
  let randomness: any Randomness

  /// The route for the router.
  var route: QuietRoute<Body> {
    QuietRoute(
      limit: BodyLimit(bytesMax: PublishLimit.bodyBytesMax), refusals: .publish,
      shape: .publish, randomness: randomness,
      read: { bytes in
        Result { () throws(StrictJSONError) in try StatisticsRequest(strictJSON: bytes) }
      },
      // A decoy is answered without days: it may come from anybody.
      decoy: { _ in try QuietAnswer(StatisticsAnswer(days: [])) },
      answer: { try await answered($0) })
  }

  private func answered(_ request: QuietRequest<Body>) async throws -> QuietAnswer {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await budget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    if case .failure(let fault) = request.body {
      return try QuietAnswer(
        StatisticsAnswer(error: "\(fault)", code: .badRequest), status: .badRequest)
    }
    let days: [StatisticsDay]
    do throws(StatisticsDesk.Refusal) {
      days = try await desk.days(
        for: request.headers[.authorization], logger: request.context.logger)
    } catch {
      return try await refused(error, key)
    }
    await budget.giveBack(key)
    return try QuietAnswer(StatisticsAnswer(days: days))
  }

  private func refused(
    _ refusal: StatisticsDesk.Refusal, _ key: BudgetKey
  ) async throws -> QuietAnswer {
    guard refusal == .unavailable else {
      let sentence = "The bearer token does not let its bearer see statistics."
      return try QuietAnswer(
        StatisticsAnswer(error: sentence, code: .unauthorized), status: .unauthorized)
    }
    await budget.giveBack(key)
    return try QuietAnswer(
      StatisticsAnswer(error: "The counts cannot be read; try again later.", code: .internalError),
      status: .serviceUnavailable, retryAfterSeconds: QuietLimit.retryAfterSeconds)
  }
}
