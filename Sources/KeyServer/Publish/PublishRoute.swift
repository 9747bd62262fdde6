import Foundation
import Hummingbird
import KeyServerAPI
import Logging
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

/// Takes publishes: check, keep. What was kept is answered the same again.
struct PublishDesk: Sendable {
  let admission: PublishAdmission
  let store: any KeyStore
  let clock: any WallClock

  /// Keeps the upload and returns the text of the answer, or says why not.
  ///
  /// The certificate is spent, the keys are inserted or revised, the answer with its revision token is
  /// stored and the upload is counted in one transaction: Documentation/KeyServer.md 7.7.
  func accept(
    _ request: PublishRequest, from platform: StatisticPlatform, logger: Logger
  ) async throws(PublishRefusal) -> Data {
    let upload = try await admission.admit(request, from: platform, at: clock.now)
    switch try await kept(upload, logger) {
    case .accepted(let answer): return answer
    case .tokenUsed: throw .certificate
    case .refused(let refusal): throw .revision(refusal)
    }
  }

  /// What a decoy goes through: the same checks, with no effect and no say in the answer.
  func consider(_ decoy: PublishRequest) async {
    _ = try? await admission.admit(decoy, from: .unknown, at: clock.now)
  }

  private func kept(
    _ upload: AdmittedUpload, _ logger: Logger
  ) async throws(PublishRefusal) -> Acceptance {
    do {
      return try await store.accept(upload)
    } catch {
      logger.error("storage failed", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }
}

/// Why a publish was refused. One case for each thing the phone can do about it.
///
/// Documentation/KeyServer.md 7.6.
enum PublishRefusal: Error, Hashable, Sendable {
  /// Stop: this app is not known here.
  case unknownApp
  /// Try again: the app cannot be looked up just now.
  case cannotLoadApp
  /// Tell the server's owner: nobody said where this app's keys count.
  case missingRegion
  /// Get a new certificate: none, not a good one, not for these keys or used up. One answer for every
  /// reason, as the difference would help only who forges one.
  case certificate
  /// Stop: the request breaks a rule, which the sentence names.
  case broken(String)
  /// Stop, or send the revision token.
  case revision(RevisionRefusal)
  /// Try again later: nothing was kept.
  case unavailable

  /// What it says for a program.
  var code: PublishCode {
    switch self {
    case .unknownApp: .unknownHealthAuthorityID
    case .cannotLoadApp: .unableToLoadHealthAuthority
    case .missingRegion: .missingRegionConfiguration
    case .certificate: .certificateInvalid
    case .broken: .badRequest
    case .revision(let refusal): refusal.code
    case .unavailable: .internalError
    }
  }

  /// The HTTP status it travels with.
  var status: Int {
    switch self {
    case .unknownApp, .certificate: 401
    case .cannotLoadApp, .missingRegion: 500
    case .broken, .revision: 400
    case .unavailable: 503
    }
  }

  /// One sentence, with nothing of the request or the server inside.
  var sentence: String {
    switch self {
    case .unknownApp: "This app may not publish here."
    case .cannotLoadApp: "The app cannot be looked up; try again later."
    case .missingRegion: "No region is set for this app."
    case .certificate: "The verification certificate is not valid for these keys."
    case .broken(let sentence): sentence
    case .revision(let refusal): refusal.sentence
    case .unavailable: "The keys were not kept; try again later."
    }
  }

  /// Whether the same request may go through later.
  var isTemporary: Bool { self == .unavailable || self == .cannotLoadApp }
}
