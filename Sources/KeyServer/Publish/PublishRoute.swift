// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Hummingbird
import KeyServerAPI
import Logging
import QuietHTTP
import Secrets
import ServerStorage
import StrictJSON
import World

/// `POST /v1/publish`: uploads of Google's contract.
struct PublishRoute: Sendable {
  typealias Body = Result<PublishRequest, StrictJSONError>

  let admission: PublishAdmission
  let store: any KeyStore
  let clock: any WallClock
  let failures: FailureBudget
  let decoyBudget: AttemptBudget
  let budgetKeys: BudgetKeys
  let refusals: RefusalLog
  let randomness: any Randomness

  /// A route for the router, with its own record of response times.
  func makeRoute() -> QuietRoute<Body> {
    QuietRoute(
      limit: BodyLimit(bytesMax: PublishLimit.bodyBytesMax), refusals: .publish,
      shape: .publish, randomness: randomness,
      times: ResponseTimes(
        randomness: randomness, gridMilliseconds: QuietLimit.uploadGridMilliseconds),
      read: { bytes in
        Result { () throws(StrictJSONError) in try PublishRequest(strictJSON: bytes) }
      },
      decoy: { try await respond(toDecoy: $0) },
      respond: { try await respond(to: $0) })
  }

  /// Adds the route, and a response of the contract's form to GET requests.
  func add(to router: Router<QuietContext>) {
    let path = RouterPath(KeyServerRoute.publish)
    router.post(path, makeRoute())
    let randomness = randomness
    router.get(path) { _, _ in
      try PaddedResponse(.wrongContentType, form: .publish)
        .response(padding: randomness, shape: .publish)
    }
  }

  private func respond(to request: QuietRequest<Body>) async throws -> PaddedResponse {
    do {
      // Successful uploads and failures of the server do not count, because many phones may share one address.
      return try await failures.attempt(from: request.context) {
        do throws(PublishRefusal) {
          return .succeeded(PaddedResponse(json: try await accept(request)))
        } catch {
          if let cause = error.cause {
            cause.record(
              in: refusals, route: KeyServerRoute.publish, requestLogger: request.context.logger)
          } else {
            refusals.count(RefusalCause.failure)
          }
          return error.isTemporary ? .succeeded(try error.response) : .failed(try error.response)
        }
      }
    } catch QuietRefusal.tooManyAttempts(let seconds) {
      RefusalCause.attempts.record(
        in: refusals, route: KeyServerRoute.publish, requestLogger: request.context.logger)
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
  }

  /// Runs the same checks for a decoy and discards the result.
  private func respond(toDecoy request: QuietRequest<Body?>) async throws -> PaddedResponse {
    let key = budgetKeys.key(for: request.context)
    if let seconds = await decoyBudget.spend(key) {
      throw QuietRefusal.tooManyAttempts(retryAfterSeconds: seconds)
    }
    // A malformed decoy gets the same response as any other.
    if let decoy = try? request.body?.get() {
      // The checks take as long as those of an upload, and their result is not used.
      _ = try? await admission.admit(decoy, from: .unknown, at: clock.now)
    }
    return PaddedResponse(json: Data("{}".utf8))
  }

  /// Stores the upload and returns the JSON of the response. The same upload sent again gets the first one.
  ///
  /// One transaction uses up the certificate, inserts or revises the keys, stores the response with its
  /// revision token, and counts the upload.
  private func accept(_ request: QuietRequest<Body>) async throws(PublishRefusal) -> Data {
    let body: PublishRequest
    do throws(StrictJSONError) {
      body = try request.body.get()
    } catch {
      throw .invalidRequest("\(error)")
    }
    let platform = UploadPlatform(userAgent: request.headers[.userAgent])
    let upload = try await admission.admit(body, from: platform, at: clock.now)
    switch try await acceptance(of: upload, request.context.logger) {
    case .accepted(let response): return response
    case .tokenUsed: throw .certificate(.used)
    case .refused(let refusal): throw .revision(refusal)
    }
  }

  private func acceptance(
    of upload: AdmittedUpload, _ logger: Logger
  ) async throws(PublishRefusal) -> Acceptance {
    do {
      return try await store.accept(upload)
    } catch {
      logger.error("upload not stored", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }
}

/// The reason why a publish request is rejected: one case for each reaction of the client.
enum PublishRefusal: Error, Hashable, Sendable {
  /// The app is not registered. The client gives up.
  case unknownApp
  /// The registry cannot be read. The client retries.
  case cannotLoadApp
  /// No region is configured for the app. The client reports it to the operator.
  case missingRegion
  /// The certificate is missing, invalid, used, or for other keys. The client needs a new one. All these
  /// reasons share one response: the difference would only help to forge certificates.
  case certificate(RefusalCause)
  /// The request breaks the rule that the message names. The client gives up.
  case invalidRequest(String)
  /// The revision rules reject the upload. The client sends the revision token, or gives up.
  case revision(RevisionRefusal)
  /// Nothing was stored. The client retries.
  case unavailable

  var code: PublishCode {
    switch self {
    case .unknownApp: .unknownHealthAuthorityID
    case .cannotLoadApp: .unableToLoadHealthAuthority
    case .missingRegion: .missingRegionConfiguration
    case .certificate: .certificateInvalid
    case .invalidRequest: .badRequest
    case .revision(let refusal): refusal.code
    case .unavailable: .internalError
    }
  }

  /// The HTTP status.
  var status: Int {
    switch self {
    case .unknownApp, .certificate: 401
    case .cannotLoadApp, .missingRegion: 500
    case .invalidRequest, .revision: 400
    case .unavailable: 503
    }
  }

  /// One sentence, without any value of the request or the server.
  var message: String {
    switch self {
    case .unknownApp: "This app is not registered."
    case .cannotLoadApp: "The app cannot be looked up; try again later."
    case .missingRegion: "No region is configured for this app."
    case .certificate: "The verification certificate is not valid for these keys."
    case .invalidRequest(let message): message
    case .revision(let refusal): refusal.message
    case .unavailable: "The keys were not stored; try again later."
    }
  }

  /// The cause for the operator; nil if the log has it already.
  var cause: RefusalCause? {
    switch self {
    case .unknownApp: .app
    case .missingRegion: .region
    case .certificate(let cause): cause
    case .invalidRequest: .request
    case .revision: .revision
    case .cannotLoadApp, .unavailable: nil
    }
  }

  /// True if the same request may succeed later.
  var isTemporary: Bool { self == .unavailable || self == .cannotLoadApp }

  fileprivate var response: PaddedResponse {
    get throws {
      try PaddedResponse(
        PublishResponse(error: message, code: code), status: .init(code: status),
        retryAfterSeconds: isTemporary ? QuietLimit.retryAfterSeconds : nil)
    }
  }
}

extension PublishResponse {
  /// The response to an upload that was accepted with `outcome`.
  ///
  /// - Throws: If the revision token cannot be encrypted. Nothing may be stored then: the client could
  ///   never revise its keys.
  init(
    _ keys: CheckedKeys, _ outcome: StoredUploadCounts, earlier: [TemporaryExposureKey],
    sealedWith ring: RevisionKeyring, at now: Date, randomness: any Randomness
  ) throws {
    let others = Self.stillRevisable(earlier, at: now).filter { !outcome.revisable.contains($0) }
    let token = RevisionToken(outcome.revisable + others)
    self.init(
      revisionToken: try token.text(sealedWith: ring, randomness: randomness),
      insertedExposures: outcome.inserted,
      error: keys.faults.isEmpty ? nil : keys.faults.joined(separator: " "),
      code: keys.faults.isEmpty ? nil : .partialFailure,
      warnings: keys.warnings.isEmpty ? nil : keys.warnings)
  }

  /// The JSON of the response without its padding.
  var json: Data {
    get throws {
      // Fast path for the usual response, whose values need no escapes: a number and base64.
      if let revisionToken, let insertedExposures, error == nil, code == nil, warnings == nil {
        let text =
          #"{"insertedExposures":\#(insertedExposures),"revisionToken":"\#(revisionToken)"}"#
        return Data(text.utf8)
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// The keys of an earlier token that are not older than an upload may be; of too many, the newest.
  private static func stillRevisable(
    _ keys: [TemporaryExposureKey], at now: Date
  ) -> [TemporaryExposureKey] {
    let oldest = IntervalNumber(now.addingTimeInterval(-UploadLimit.keyAgeSecondsMax))
    let live = keys.filter { $0.rollingEnd >= oldest ?? IntervalNumber(rawValue: 0) }
    guard live.count > RevisionLimit.entriesMax else { return live }
    let newestFirst = live.sorted { $0.rollingStart > $1.rollingStart }
    return Array(newestFirst.prefix(RevisionLimit.entriesMax))
  }
}

extension ErrorBody {
  /// The form in which `/v1/publish` and `/v1/stats` return the errors of the HTTP layer.
  static let publish = ErrorBody { PublishResponse(error: $0.message, code: $0.publishCode) }
}

extension ResponseShape {
  /// Pads every response of `/v1/publish` to the length of one with a revision token, and adds the version.
  static let publish: ResponseShape = {
    var headers = HTTPFields()
    if let name = HTTPFields.Element.Name("x-api-version") { headers[name] = "v1" }
    return ResponseShape(bytesMin: PublishLimit.responseBytesMin, headers: headers)
  }()
}

extension QuietRefusal {
  fileprivate var publishCode: PublishCode {
    switch self {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed, .notFound: .badRequest
    case .tooManyAttempts, .quotaUsedUp: .tooManyRequests
    case .unavailable, .internalError: .internalError
    }
  }
}

/// The configuration of `/v1/publish`.
public struct PublishConfiguration: Sendable, Redacted {
  /// The region of keys of an app without regions of its own; `nil` to reject such an app.
  public var defaultRegion: String?
  /// If true, keys that are not in the revision token are dropped one by one; otherwise the upload is
  /// rejected.
  public var allowsPartialRevisions = false
  /// A constant of at least 16 bytes that revision tokens are bound to. Servers that share a `databaseKey` need
  /// different constants.
  public var revisionContext = Data("firebreak key server revision token".utf8)

  /// A configuration with all defaults.
  public init() {}
}

extension PublishConfiguration {
  func checked() throws(KeyServerError) {
    guard revisionContext.count >= RevisionLimit.contextBytesMin else {
      throw .configuration(
        "publish.revisionContext must be at least \(RevisionLimit.contextBytesMin) bytes.")
    }
    if let fault = AuthorizedApp.fault(inRegions: Set([defaultRegion].compactMap(\.self))) {
      throw .configuration("publish.defaultRegion: \(fault)")
    }
  }
}
