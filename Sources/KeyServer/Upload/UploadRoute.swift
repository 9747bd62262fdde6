// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import ExposureKeys
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import QuietHTTP
import ServerStorage
import UploadToken
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
  let refusals: RefusalLog
  let randomness: any Randomness

  /// A route for the router, with its own record of response times.
  func makeRoute() -> QuietRoute<UploadRequest> {
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
    do {
      // Successful uploads and failures of the server do not count, because many phones may share one address.
      return try await failures.attempt(from: request.context) {
        let report: UploadReport
        do throws(UploadRefusal) {
          report = try await accept(request.body, logger: request.context.logger)
        } catch {
          if let cause = error.cause {
            cause.record(
              in: refusals, route: KeyServerRoute.upload, requestLogger: request.context.logger)
          } else {
            refusals.count(RefusalCause.failure)
          }
          return error == .unavailable
            ? .succeeded(try error.response) : .failed(try error.response)
        }
        return .succeeded(try PaddedResponse(report))
      }
    } catch QuietRefusal.tooManyAttempts(let seconds) {
      RefusalCause.attempts.record(
        in: refusals, route: KeyServerRoute.upload, requestLogger: request.context.logger)
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
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
    // The checks of a decoy take as long as those of an upload, and their result is not used.
    if let decoy = request.body { _ = try? await admission.admit(decoy, at: clock.now) }
    return try PaddedResponse(UploadResponse.accepted)
  }

  /// Stores the upload. The same upload sent again gets the first response.
  ///
  /// After all other checks, one transaction spends the token, inserts the keys and stores the response.
  private func accept(
    _ request: UploadRequest, logger: Logger
  ) async throws(UploadRefusal) -> UploadReport {
    let now = clock.now
    let upload = try await admission.admit(request, at: now)
    if upload.isExpired || devices.isRequired(for: request.data) {
      // Before the device check: a repeated upload succeeds even if its token or its device token has expired.
      let earlier = try await storing(logger) { try await store.acceptance(of: upload) }
      if let earlier { return try Self.response(to: earlier) }
    }
    guard !upload.isExpired else {
      let token = request.data.verificationPayload ?? ""
      throw .unauthenticated(RefusalCause(.expired, of: token, at: now))
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
  ) throws(UploadRefusal) -> UploadReport {
    switch acceptance {
    case .accepted(let stored): UploadReport(stored)
    case .tokenUsed, .refused: throw .unauthenticated(.used)
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

/// Checks an upload of the ProteGO Safe contract: the token, then the origin, then the keys.
///
/// It stores nothing and does not mark the token as used.
struct UploadAdmission: Sendable {
  let registry: CachedRegistry
  let region: String
  let platforms: Set<String>
  /// The keys of the digests of tokens and uploads.
  let keys: DatabaseKeys

  func admit(
    _ request: UploadRequest, at now: Date
  ) async throws(UploadRefusal) -> AdmittedUpload {
    let payload = request.data
    let (grant, issuer) = try await grant(of: payload, at: now)
    let keys = payload.temporaryExposureKeys.map(UploadedKey.init)
    try checkBinding(of: grant, to: keys, secret: payload.hmackey)
    try await checkOrigin(of: payload, granted: grant, by: issuer)
    let (good, report) = try Self.validKeys(of: keys, at: now)
    let onset = SymptomOnset(grant.symptomOnsetInterval, at: now)
    let publishable = publishable(good, of: request, granted: grant, onset: onset, at: now)
    do {
      return try AdmittedUpload(
        token: UsedToken(grant, issuer: issuer, at: now, keys: self.keys),
        digest: UploadDigest.of(request, keys: keys, under: self.keys), keys: publishable,
        revision: .leaveKnown,
        facts: facts(of: payload, grant, by: issuer, onset, publishable, at: now),
        isExpired: grant.expiresAt <= now, response: { _ in report.stored })
    } catch {
      throw .unavailable
    }
  }

  private func facts(
    of payload: UploadPayload, _ grant: UploadGrant, by issuer: String, _ onset: SymptomOnset,
    _ keys: [PublishableKey], at now: Date
  ) -> UploadStatistics {
    var facts = UploadStatistics(
      issuer: issuer, tokenIssuedAt: grant.issuedAt,
      platform: UploadPlatform(name: payload.platform), onset: onset, keys: keys, at: now)
    facts.isCounted = !grant.isCanary
    return facts
  }

  /// The keys that break no rule by themselves, and the report about the others. A phone whose clock is ahead sends a
  /// key of tomorrow, which must not cost it the good ones.
  ///
  /// - Throws: `.invalidRequest` if the keys break a rule together, or if none is valid.
  private static func validKeys(
    of keys: [UploadedKey], at now: Date
  ) throws(UploadRefusal) -> ([UploadedKey], UploadReport) {
    guard UploadLimit.keyCount.contains(keys.count) else {
      throw .invalidRequest(UploadViolation.keyCount.description)
    }
    let window = KeyWindow(at: now)
    var (good, report): ([UploadedKey], UploadReport) = ([], UploadReport())
    for (index, key) in keys.enumerated() {
      if let violation = window.violation(of: key) {
        if report.skipped.count == keys.count - 1 { throw .invalidRequest(violation.description) }
        report.skipped.append("Key \(index): \(violation)")
      } else {
        good.append(key)
      }
    }
    if let violation = UploadLimit.breachTogether(of: good.compactMap(\.exposureKey)) {
      throw .invalidRequest(violation.description)
    }
    return (good, report)
  }

  /// The time for which an expired token gets the response to an upload that it was used for, in seconds.
  private static let expiredSecondsMax = KeyServerLimit.reissueSecondsMax

  private func grant(
    of payload: UploadPayload, at now: Date
  ) async throws(UploadRefusal) -> (grant: UploadGrant, issuer: String) {
    guard let text = payload.verificationPayload, text.utf8.count <= UploadLimit.tokenBytesMax
    else { throw .unauthenticated(.missingToken) }
    let token = UnverifiedUploadToken(text)
    let known = try await currentRegistry().tokens.entry(for: text)
    do throws(UploadTokenRefusal) {
      let verified = try await known.verifier.verified(
        token, at: now, upToExpiryPlus: Self.expiredSecondsMax)
      return (verified.grant, known.issuer)
    } catch {
      guard error == .unknownKey else {
        throw .unauthenticated(RefusalCause(error, of: text, at: now))
      }
    }
    // The key may have been added since the registry was read.
    let reread: Registry
    do { reread = try await registry.registryForUnknownKey() } catch { throw .unavailable }
    let current = reread.tokens.entry(for: text)
    do throws(UploadTokenRefusal) {
      let verified = try await current.verifier.verified(
        token, at: now, upToExpiryPlus: Self.expiredSecondsMax)
      return (verified.grant, current.issuer)
    } catch {
      throw .unauthenticated(RefusalCause(error, of: text, at: now))
    }
  }

  private func currentRegistry() async throws(UploadRefusal) -> Registry {
    do { return try await registry.registry() } catch { throw .unavailable }
  }

  /// Rejects keys other than those that the token is bound to, if it is bound.
  private func checkBinding(
    of grant: UploadGrant, to keys: [UploadedKey], secret: String?
  ) throws(UploadRefusal) {
    guard let code = grant.keyHMAC else { return }
    guard let secret = secret.flatMap({ Data(base64Encoded: $0) }),
      UploadLimit.hmacKeyBytes.contains(secret.count),
      KeyHMAC.isValid(code, over: keys, secret: secret)
    else { throw .unauthenticated(.keyHMAC) }
  }

  private func checkOrigin(
    of payload: UploadPayload, granted grant: UploadGrant, by issuer: String
  ) async throws(UploadRefusal) {
    guard UploadLimit.regionCount.contains(payload.regions.count) else {
      throw .invalidRequest("An upload names 1 to 10 regions.")
    }
    let known = try await currentRegistry()
    guard let app = known.apps[payload.appPackageName], app.authorities.contains(issuer),
      CanaryUploads.mayUpload(payload.appPackageName, with: grant)
    else { throw .notAllowed(.app) }
    guard platforms.contains(payload.platform) else { throw .notAllowed(.platform) }
    let allowed = app.regions.isEmpty ? [region] : app.regions
    guard payload.regions.allSatisfy({ allowed.contains($0.uppercased()) }) else {
      throw .notAllowed(.region)
    }
  }

  private func publishable(
    _ keys: [UploadedKey], of request: UploadRequest, granted grant: UploadGrant,
    onset: SymptomOnset,
    at now: Date
  ) -> [PublishableKey] {
    let regions = Set(request.data.regions.map { $0.uppercased() }).sorted()
    return keys.compactMap { sent in
      guard let key = sent.exposureKey, let risk = UInt8(exactly: sent.risk ?? 0) else {
        return nil
      }
      let days = onset.days(to: key)
      return DiagnosisKey(
        key: key, transmissionRiskLevel: risk,
        reportType: CertifiedReportType(rawValue: grant.reportType)?.reportType,
        daysSinceOnsetOfSymptoms: days.flatMap {
          KeyServerLimit.daysSinceOnset.contains($0) ? $0 : nil
        })
    }.map { key in
      PublishableKey(
        key: key, regions: regions,
        travels: !grant.isCanary && (request.isInteroperabilityEnabled ?? false),
        releasedAt: Embargo.release(of: key.key, receivedAt: now))
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
  case unauthenticated(RefusalCause)
  /// The app, region or platform is not allowed. The client gives up.
  case notAllowed(RefusalCause)
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

  /// The cause for the operator; nil if the log has it already.
  fileprivate var cause: RefusalCause? {
    switch self {
    case .invalidRequest: .request
    case .unauthenticated(let cause), .notAllowed(let cause): cause
    case .deviceNotGenuine: .device
    case .unavailable: nil
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
    case .tooManyAttempts, .quotaUsedUp: .resourceExhausted
    case .unavailable: .unavailable
    case .internalError: .internal
    }
  }
}
