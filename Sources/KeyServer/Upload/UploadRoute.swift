import CallableEnvelope
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
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

/// Takes uploads in the seed's form: check, check the device, keep. What was kept is answered the same
/// again.
struct UploadDesk: Sendable {
  let admission: Admission
  let devices: DeviceVerification
  let store: any KeyStore
  let clock: any WallClock

  /// Keeps the upload and returns what to answer, or says why not.
  ///
  /// The rules of Documentation/SeedContract.md 4.6: a token is spent, its keys are inserted and its
  /// answer is stored in one transaction, after everything else has been checked.
  func accept(
    _ request: UploadRequest, logger: Logger
  ) async throws(UploadRefusal) -> UploadAnswer {
    let now = clock.now
    let upload = try await admission.admit(request, at: now)
    if devices.isRequired(of: request.data) {
      // Before the device check: an upload that is in is answered even when its proof has gone stale.
      let earlier = try await Self.kept(logger) { try await store.acceptance(of: upload) }
      if let earlier { return try Self.answer(earlier) }
    }
    try await devices.verify(request.data, at: now)
    let acceptance = try await Self.kept(logger) { try await store.accept(upload) }
    return try Self.answer(acceptance)
  }

  /// What a decoy goes through: the same checks, with no effect and no say in the answer.
  func consider(_ decoy: UploadRequest) async {
    _ = try? await admission.admit(decoy, at: clock.now)
  }

  private static func answer(_ acceptance: Acceptance) throws(UploadRefusal) -> UploadAnswer {
    switch acceptance {
    case .accepted(let answer): UploadAnswer(result: String(decoding: answer, as: UTF8.self))
    case .tokenUsed, .refused: throw .unauthenticated
    }
  }

  /// Storage that fails keeps nothing, and the phone may come again.
  private static func kept<Value: Sendable>(
    _ logger: Logger, _ work: () async throws -> Value
  ) async throws(UploadRefusal) -> Value {
    do {
      return try await work()
    } catch {
      logger.error("storage failed", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }
}

/// What became of an upload.
enum Acceptance: Hashable, Sendable {
  /// It is in, now or since earlier; this is the answer.
  case accepted(answer: Data)
  /// The token has been used for another upload.
  case tokenUsed
  /// A key that is in already may not become what the upload says; nothing was kept and nothing spent.
  case refused(RevisionRefusal)
}

/// Why an upload was refused. One case for each thing the phone can do about it.
///
/// Documentation/SeedContract.md 4.5.
enum UploadRefusal: Error, Hashable {
  /// Stop: the request breaks a rule, which the sentence names.
  case broken(String)
  /// Ask the person for a new PIN: no token, not a good one, not for these keys, or used up.
  case unauthenticated
  /// Stop: this app or region is not taken here.
  case notAllowed
  /// Stop: the device check failed.
  case deviceNotGenuine
  /// Try again later.
  case unavailable
}

extension RefusalForm {
  /// The seed contract's form of every refusal that the HTTP layer makes.
  static let callable = RefusalForm { CallableFailure($0.callableStatus, message: $0.message) }
}

extension QuietRefusal {
  fileprivate var callableStatus: CallableStatus {
    switch self {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed: .invalidArgument
    case .notFound: .notFound
    case .tooManyAttempts: .resourceExhausted
    case .unavailable: .unavailable
    case .ourFault: .internal
    }
  }
}
