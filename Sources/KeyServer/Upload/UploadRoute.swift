import CallableEnvelope
import Hummingbird
import KeyServerAPI
import QuietHTTP
import World

/// `POST /uploadDiagnosisKeys` over HTTP: limits, budget, decoys and the form of the answers.
struct UploadRoute: Sendable {
  let desk: UploadDesk
  let budget: AttemptBudget
  let decoyBudget: AttemptBudget
  let budgetKeys: BudgetKeys
  let randomness: any Randomness

  /// The route for the router.
  var route: QuietRoute<UploadRequest> {
    QuietRoute(
      limit: BodyLimit(bytesMax: UploadLimit.bodyBytesMax), refusals: .callable,
      randomness: randomness, isStrict: true,
      decoy: { try await considered($0) },
      answer: { try await answered($0) })
  }

  private func answered(_ request: QuietRequest<UploadRequest>) async throws -> QuietAnswer {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await budget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    do {
      let answer = try await desk.accept(request.body, logger: request.context.logger)
      // An honest upload costs its address nothing: many phones may share one.
      await budget.giveBack(key)
      return try QuietAnswer(answer)
    } catch let refusal as UploadRefusal {
      // Nor does one that failed through no fault of the phone's.
      if refusal == .unavailable { await budget.giveBack(key) }
      return try refusal.answer
    }
  }

  private func considered(_ request: QuietRequest<UploadRequest?>) async throws -> QuietAnswer {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await decoyBudget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    if let decoy = request.body { await desk.consider(decoy) }
    return try QuietAnswer(UploadAnswer.accepted)
  }
}

extension UploadRefusal {
  /// The refusal in the seed contract's form.
  var answer: QuietAnswer {
    get throws {
      try QuietAnswer(
        failure, status: .init(code: failure.error.status.httpStatus),
        retryAfterSeconds: self == .unavailable ? QuietLimit.retryAfterSeconds : nil)
    }
  }

  private var failure: CallableFailure {
    switch self {
    case .broken(let sentence): CallableFailure(.invalidArgument, message: sentence)
    case .unauthenticated: CallableFailure(.unauthenticated)
    case .notAllowed: CallableFailure(.permissionDenied)
    case .deviceNotGenuine:
      CallableFailure(.permissionDenied, message: "The device check failed.")
    case .unavailable:
      CallableFailure(.unavailable, message: "The keys were not kept; try again later.")
    }
  }
}
