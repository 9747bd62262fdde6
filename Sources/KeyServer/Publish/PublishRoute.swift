import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP
import World

/// `POST /v1/publish` over HTTP: limits, budget, decoys and the form of the answers.
struct PublishRoute: Sendable {
  typealias Body = Result<PublishRequest, StrictJSONError>

  let desk: PublishDesk
  let budget: AttemptBudget
  let decoyBudget: AttemptBudget
  let budgetKeys: BudgetKeys
  let randomness: any Randomness

  /// The route for the router.
  var route: QuietRoute<Body> {
    QuietRoute(
      limit: BodyLimit(bytesMax: PublishLimit.bodyBytesMax), refusals: .publish,
      shape: .publish, randomness: randomness,
      read: { bytes in
        Result { () throws(StrictJSONError) in try PublishRequest(strictJSON: bytes) }
      },
      decoy: { try await considered($0) },
      answer: { try await answered($0) })
  }

  /// Answers the path. Whoever asks with GET sent no JSON, and hears so in the contract's form.
  func add(to router: Router<QuietContext>) {
    let path = RouterPath(KeyServerRoute.publish)
    router.post(path, route)
    let randomness = randomness
    router.get(path) { _, _ in
      try QuietAnswer(.wrongContentType, form: .publish)
        .response(padding: randomness, shape: .publish)
    }
  }

  private func answered(_ request: QuietRequest<Body>) async throws -> QuietAnswer {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await budget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    do throws(PublishRefusal) {
      let answer = try await accepted(request)
      // An honest upload costs its address nothing: many phones may share one.
      await budget.giveBack(key)
      return QuietAnswer(json: answer)
    } catch {
      // Nor does one that failed through no fault of the phone's.
      if error.isTemporary { await budget.giveBack(key) }
      return try error.answer
    }
  }

  private func accepted(_ request: QuietRequest<Body>) async throws(PublishRefusal) -> Data {
    let body: PublishRequest
    do throws(StrictJSONError) {
      body = try request.body.get()
    } catch {
      throw .broken("\(error)")
    }
    return try await desk.accept(
      body, from: StatisticPlatform(userAgent: request.headers[.userAgent]),
      logger: request.context.logger)
  }

  private func considered(_ request: QuietRequest<Body?>) async throws -> QuietAnswer {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await decoyBudget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    if let decoy = try? request.body?.get() { await desk.consider(decoy) }
    return QuietAnswer(json: Data("{}".utf8))
  }
}

extension PublishRefusal {
  /// The refusal in the contract's form.
  fileprivate var answer: QuietAnswer {
    get throws {
      try QuietAnswer(
        PublishAnswer(error: sentence, code: code), status: .init(code: status),
        retryAfterSeconds: isTemporary ? QuietLimit.retryAfterSeconds : nil)
    }
  }
}
