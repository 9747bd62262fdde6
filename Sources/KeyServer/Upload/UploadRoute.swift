import CallableEnvelope
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import QuietHTTP
import World

/// `POST /uploadDiagnosisKeys`: uploads of the ProteGO Safe contract.
struct UploadRoute: Sendable {
  let admission: UploadAdmission
  let devices: DeviceVerification
  let store: any KeyStore
  let clock: any WallClock
  let failures: FailureBudget
  let decoyBudget: AttemptBudget
  let budgetKeys: BudgetKeys
  let randomness: any Randomness

  /// The route for the router.
  var route: QuietRoute<UploadRequest> {
    QuietRoute(
      limit: BodyLimit(bytesMax: UploadLimit.bodyBytesMax), refusals: .callable,
      randomness: randomness, isStrict: true,
      times: ResponseTimes(
        randomness: randomness, gridMilliseconds: QuietLimit.uploadGridMilliseconds),
      decoy: { try await respond(toDecoy: $0) },
      respond: { request in
        if devices.asksAnotherServer(about: request.body.data) { request.context.excludeFromLoad() }
        return try await respond(to: request)
      })
  }

  private func respond(to request: QuietRequest<UploadRequest>) async throws -> PaddedResponse {
    // Successful uploads and failures of the server do not count, because many phones may share one address.
    try await failures.attempt(from: request.context) {
      let response: UploadResponse
      do throws(UploadRefusal) {
        response = try await accept(request.body, logger: request.context.logger)
      } catch {
        return error == .unavailable ? .succeeded(try error.response) : .failed(try error.response)
      }
      return .succeeded(try PaddedResponse(response))
    }
  }

  /// Runs the same checks for a decoy and discards the result.
  private func respond(
    toDecoy request: QuietRequest<UploadRequest?>
  ) async throws -> PaddedResponse {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await decoyBudget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    if let decoy = request.body { _ = try? await admission.admit(decoy, at: clock.now) }
    return try PaddedResponse(UploadResponse.accepted)
  }

  /// Stores the upload. The same upload sent again gets the first response.
  ///
  /// After all other checks, one transaction spends the token, inserts the keys and stores the response.
  private func accept(
    _ request: UploadRequest, logger: Logger
  ) async throws(UploadRefusal) -> UploadResponse {
    let now = clock.now
    let upload = try await admission.admit(request, at: now)
    if devices.isRequired(for: request.data) {
      // Before the device check: a repeated upload succeeds even if its device token has expired.
      let earlier = try await storing(logger) { try await store.acceptance(of: upload) }
      if let earlier { return try Self.response(to: earlier) }
    }
    do throws(DeviceVerificationError) {
      try await devices.verify(request.data, at: now)
    } catch {
      throw UploadRefusal(error)
    }
    return try Self.response(to: try await storing(logger) { try await store.accept(upload) })
  }

  private static func response(
    to acceptance: Acceptance
  ) throws(UploadRefusal) -> UploadResponse {
    switch acceptance {
    case .accepted(let text): UploadResponse(result: String(decoding: text, as: UTF8.self))
    case .tokenUsed, .refused: throw .unauthenticated
    }
  }

  private func storing<Value: Sendable>(
    _ logger: Logger, _ work: () async throws -> Value
  ) async throws(UploadRefusal) -> Value {
    do {
      return try await work()
    } catch {
      logger.error("upload not stored", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }
}

/// The result of storing an upload of either contract.
enum Acceptance: Hashable, Sendable {
  /// The keys are stored, now or by an earlier request; `response` is sent to the client.
  case accepted(response: Data)
  /// The token was used for a different upload.
  case tokenUsed
  /// The revision rules reject the upload. Nothing was stored and the token is not used.
  case refused(RevisionRefusal)
}

/// The reason why an upload is rejected: one case for each reaction of the client.
enum UploadRefusal: Error, Hashable {
  /// The request breaks the rule that the message names. The client gives up.
  case invalidRequest(String)
  /// The token is missing, invalid, used, or bound to other keys. The user needs a new PIN.
  case unauthenticated
  /// The app, region or platform is not allowed. The client gives up.
  case notAllowed
  /// The device check failed. The client gives up.
  case deviceNotGenuine
  /// A temporary failure. The client retries.
  case unavailable

  fileprivate init(_ error: DeviceVerificationError) {
    self =
      switch error {
      case .unreadable: .invalidRequest("The deviceVerificationPayload is invalid.")
      case .notGenuine: .deviceNotGenuine
      case .unavailable: .unavailable
      }
  }

  /// The response of the ProteGO Safe contract.
  fileprivate var response: PaddedResponse {
    get throws {
      try PaddedResponse(
        failure, status: .init(code: failure.error.status.httpStatus),
        retryAfterSeconds: self == .unavailable ? QuietLimit.retryAfterSeconds : nil)
    }
  }

  private var failure: CallableFailure {
    switch self {
    case .invalidRequest(let message): CallableFailure(.invalidArgument, message: message)
    case .unauthenticated: CallableFailure(.unauthenticated)
    case .notAllowed: CallableFailure(.permissionDenied)
    case .deviceNotGenuine:
      CallableFailure(.permissionDenied, message: "The device check failed.")
    case .unavailable:
      CallableFailure(.unavailable, message: "The keys were not stored; try again later.")
    }
  }
}

extension ErrorBody {
  /// The ProteGO Safe contract's form of the errors that the HTTP layer reports.
  static let callable = ErrorBody { CallableFailure($0.callableStatus, message: $0.message) }
}

extension QuietRefusal {
  fileprivate var callableStatus: CallableStatus {
    switch self {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed: .invalidArgument
    case .notFound: .notFound
    case .tooManyAttempts: .resourceExhausted
    case .unavailable: .unavailable
    case .internalError: .internal
    }
  }
}
