// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Crypto
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import Secrets
import ServerStorage
import VerificationAPI
import World

/// POST /generateCode: a new PIN for the health authority's systems.
struct GenerateCodeRoute: Sendable {
  typealias Route = CallableRoute<GenerateCodeRequest>

  let codeIssuer: CodeIssuer
  let gate: APITokenGate

  func add(to router: Router<QuietContext>) {
    Route(randomness: codeIssuer.randomness, gate: gate.check)
      .add(VerificationRoute.generateCode, to: router, decoy: decoy, respond: respond)
  }

  private func respond(_ request: Route.Request) async throws -> PaddedResponse {
    let payload = request.body.data ?? GenerateCodeRequest()
    guard let testResult = TestResult(payload, now: codeIssuer.clock.now) else {
      return try PaddedResponse(
        CallableFailure(
          .invalidArgument,
          message: "testType must be confirmed, symptomDate a day of the last"
            + " \(VerificationLimit.symptomAgeDaysMax) days as YYYY-MM-DD."))
    }
    let code = try await QuietRefusal.mappingServerErrors(request.context.logger) {
      try await codeIssuer.code(for: testResult)
    }
    return try PaddedResponse(CallableResponse(result: code.characters))
  }

  /// Draws a PIN and stores none.
  private func decoy(_ request: Route.DecoyRequest) async throws -> PaddedResponse {
    let code = VerificationCode.drawn(from: codeIssuer.randomness)
    return try PaddedResponse(CallableResponse(result: code.characters))
  }
}

extension TestResult {
  /// The test result of the request; nil if the request is invalid at `now`.
  fileprivate init?(_ request: GenerateCodeRequest, now: Date) {
    guard [nil, TestType.confirmed.rawValue].contains(request.testType),
      request.symptomDate != "",
      // This contract has one response to all invalid requests.
      let dates = try? TestDates(symptomDate: request.symptomDate, testDate: nil, now: now)
    else { return nil }
    self.init(.confirmed, dates)
  }
}

/// POST /generateCodesBatch: many new PINs for the health authority's systems.
struct GenerateCodesBatchRoute: Sendable {
  typealias Route = CallableRoute<GenerateCodesBatchRequest>

  let codeIssuer: CodeIssuer
  let gate: APITokenGate

  func add(to router: Router<QuietContext>) {
    Route(randomness: codeIssuer.randomness, gate: gate.check)
      .add(VerificationRoute.generateCodesBatch, to: router, decoy: decoy, respond: respond)
  }

  private func respond(_ request: Route.Request) async throws -> PaddedResponse {
    guard let count = request.body.data?.numberOfCodes,
      VerificationLimit.batchCodes.contains(count),
      let duration = request.body.data?.duration, Self.isLifetime(duration)
    else {
      return try PaddedResponse(
        CallableFailure(
          .invalidArgument,
          message:
            "numberOfCodes must be 1 to 1000, duration 1800 or a multiple of 3600 up to 86400."
        ))
    }
    let codes = try await QuietRefusal.mappingServerErrors(request.context.logger) {
      try await codeIssuer.codes(
        count, for: TestResult(testType: .confirmed), lifetime: TimeInterval(duration))
    }
    return try PaddedResponse(CallableResponse(result: codes.map(\.characters)))
  }

  /// Half an hour, or whole hours up to a day, in seconds.
  private static func isLifetime(_ seconds: Int) -> Bool {
    seconds == 1_800 || ((3_600...86_400).contains(seconds) && seconds % 3_600 == 0)
  }

  /// Draws the requested number of PINs and stores none.
  private func decoy(_ request: Route.DecoyRequest) async throws -> PaddedResponse {
    let limits = VerificationLimit.batchCodes
    let count = request.body?.data?.numberOfCodes ?? limits.lowerBound
    let allowed = min(max(count, limits.lowerBound), limits.upperBound)
    let codes = (0..<allowed).map { _ in VerificationCode.drawn(from: codeIssuer.randomness) }
    return try PaddedResponse(CallableResponse(result: codes.map(\.characters)))
  }
}

/// POST /getAccessToken: exchanges a PIN, the short code of a doctor's diagnosis, or the permit for the days that
/// follow them, for an upload token.
///
/// A missing, unknown, used and expired PIN get the same response, so that it does not reveal which PINs
/// exist.
struct AccessTokenRoute: Sendable {
  typealias Route = CallableRoute<AccessTokenRequest>

  let redeemer: CodeRedeemer
  let netmasks: Netmasks
  /// Counts wrong codes, together with those of `VerifyRoute`.
  let failures: FailureBudget
  let weights: GuessWeights
  /// Counts the refusals by cause.
  var refusals: RefusalLog?
  let attempts: AttemptCounter

  func add(to router: Router<QuietContext>) {
    Route(randomness: redeemer.randomness, gate: checkAddress)
      .add(VerificationRoute.accessToken, to: router, decoy: decoy, respond: respond)
  }

  /// Checks the address before the body is read, also for decoys.
  private func checkAddress(headers: HTTPFields, context: QuietContext) throws -> PaddedResponse? {
    guard !netmasks.contain(context) else { return nil }
    refusals?.record(.address, at: context)
    return try PaddedResponse(
      CallableFailure(.permissionDenied, message: "The client's address is not allowed."))
  }

  private func respond(_ request: Route.Request) async throws -> PaddedResponse {
    let keyHMAC = try KeyHMACField(request.body.data?.ekeyhmac)
    if let permit = request.body.data?.followUp {
      return try await respond(toPermit: permit, keyHMAC: keyHMAC.bytes, to: request)
    }
    let code = request.body.data?.code.flatMap { CodeParser.typedCode(in: $0) }
    let weight = try await QuietRefusal.mappingServerErrors(request.context.logger) {
      try await weights.weight(of: code)
    }
    return try await failures.attempt(
      from: request.context, on: code.map { redeemer.keys.budgetName(of: $0) },
      weight: weight
    ) {
      guard let code else {
        refusals?.record(.codeForm, at: request.context)
        attempts.count(.codeInvalid, by: nil, on: request.system)
        return .failed(try invalidCode())
      }
      let wantsFollowUp = request.body.data?.wantsFollowUp ?? false
      let response = try await QuietRefusal.mappingServerErrors(request.context.logger) {
        try await redeemer.response(to: code, keyHMAC: keyHMAC.bytes, wantsFollowUp: wantsFollowUp)
      }
      if response == nil { attempts.count(.codeInvalid, by: nil, on: request.system) }
      return try attempt(response, at: request.context)
    }
  }

  /// A token of a following day is bound to keys, as the first one of the same app is.
  private func respond(
    toPermit permit: String, keyHMAC: Data?, to request: Route.Request
  ) async throws -> PaddedResponse {
    try await failures.attempt(from: request.context) {
      guard let keyHMAC else { throw QuietRefusal.malformed }
      let response = try await QuietRefusal.mappingServerErrors(request.context.logger) {
        try await redeemer.response(toPermit: permit, keyHMAC: keyHMAC)
      }
      return try attempt(response, at: request.context)
    }
  }

  private func attempt(
    _ response: AccessTokenResponse?, at context: QuietContext
  ) throws -> AttemptResult<PaddedResponse> {
    guard let response else {
      refusals?.record(.code, at: context)
      return .failed(try invalidCode())
    }
    return .succeeded(try PaddedResponse(CallableResponse(result: response)))
  }

  /// Looks up a PIN as a real request does, and responds with random bytes in place of a token.
  private func decoy(_ request: Route.DecoyRequest) async throws -> PaddedResponse {
    let typed = request.body?.data?.code.flatMap { CodeParser.typedCode(in: $0) }
    let code = typed ?? VerificationCode.drawn(from: redeemer.randomness)
    // The lookup takes as long as that of a real request, and its result is not used.
    _ = try? await redeemer.storage.code(redeemer.keys.hash(of: code))
    let noToken = Data(redeemer.randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try PaddedResponse(CallableResponse(result: AccessTokenResponse(accessToken: noToken)))
  }

  private func invalidCode() throws -> PaddedResponse {
    try PaddedResponse(CallableFailure(.notFound, message: VerificationRoute.invalidCode))
  }

  /// The approximate size of a token, in bytes.
  private static let decoyBytes = 330
}

/// The field `ekeyhmac` of a token request.
private struct KeyHMACField: Sendable {
  /// The HMAC over the keys; nil if the field is absent.
  let bytes: Data?

  /// - Throws: `.malformed` if the field is not base64 of 32 bytes.
  init(_ text: String?) throws(QuietRefusal) {
    guard let text else {
      bytes = nil
      return
    }
    guard let bytes = Data(base64Encoded: text), bytes.count == VerificationLimit.keyHMACBytes
    else { throw .malformed }
    self.bytes = bytes
  }
}

/// The check of requests from the health authority's systems to the ProteGO Safe contract before the
/// body is read: address, API token.
struct APITokenGate: Sendable {
  let apiTokens: APITokens
  let netmasks: Netmasks
  let failures: FailureBudget
  /// Counts the refusals by cause.
  var refusals: RefusalLog?

  /// Checks the address first and then the API token, also for decoys.
  ///
  /// Tokens from an address outside the netmasks are rejected without a check, so that they cannot be guessed from
  /// there. Both errors have the same response.
  func check(headers: HTTPFields, context: QuietContext) async throws -> PaddedResponse? {
    guard netmasks.contain(context) else {
      refusals?.record(.address, at: context)
      return try Self.refusal()
    }
    let token = HTTPFields.Element.Name(VerificationRoute.apiTokenHeader).flatMap { headers[$0] }
    return try await failures.attempt(from: context) {
      guard !apiTokens.contain(token) else { return .succeeded(nil) }
      refusals?.record(.apiKey, at: context)
      return .failed(try Self.refusal())
    }
  }

  private static func refusal() throws -> PaddedResponse {
    try PaddedResponse(
      CallableFailure(
        .permissionDenied,
        message:
          "\(VerificationRoute.apiTokenHeader) must be a valid token, sent from an allowed address."
      ))
  }
}

/// The hashes of the tokens that authenticate the health authority's systems.
///
/// Several are valid at once, so that a token can be replaced without a gap.
struct APITokens: Sendable {
  private let hashes: RereadFile<[SHA256Digest]>

  /// - Parameters:
  ///   - read: Reads the tokens again while the server runs; nil if they do not change.
  ///   - version: The present version of the file that is read.
  /// - Throws: `VerificationServerError.badConfiguration` if a token is too short or too long, or there
  ///   are too many.
  init(
    _ tokens: [String], read: (@Sendable () throws -> [String])? = nil,
    version: (@Sendable () -> FileVersion?)? = nil,
    clock: any WallClock = SystemClock(), logger: Logger? = nil
  ) throws {
    var reread: (@Sendable () throws -> [SHA256Digest])?
    if let read { reread = { try Self.hashes(of: read()) } }
    hashes = RereadFile(
      try Self.hashes(of: tokens), name: "API tokens", read: reread, version: version, clock: clock,
      logger: logger)
  }

  private static func hashes(of tokens: [String]) throws -> [SHA256Digest] {
    let lengths = VerificationLimit.apiTokenCharacters
    guard tokens.allSatisfy({ lengths.contains($0.utf8.count) }) else {
      throw VerificationServerError.badConfiguration(
        "apiTokens: each must have \(lengths.lowerBound) to \(lengths.upperBound) characters.")
    }
    guard tokens.count <= VerificationLimit.apiTokensMax else {
      throw VerificationServerError.badConfiguration(
        "apiTokens: there may be at most \(VerificationLimit.apiTokensMax).")
    }
    return tokens.map { SHA256.hash(data: Data($0.utf8)) }
  }

  /// Returns true if `presented` is a valid token.
  ///
  /// The time does not depend on the token: digests compare in constant time, and all are compared.
  func contain(_ presented: String?) -> Bool {
    let hash = SHA256.hash(data: Data((presented ?? "").utf8))
    return hashes.value.reduce(false) { found, known in
      let equal = known == hash
      return found || equal
    }
  }
}

extension APITokens: Redacted {
  var description: String { "APITokens(\(hashes.value.count))" }
}

/// A route of the ProteGO Safe contract: a callable function with its limits and error body.
struct CallableRoute<Payload: Codable & Sendable>: Sendable {
  typealias Body = CallableRequest<Payload?>
  typealias Request = QuietRequest<Body>
  typealias DecoyRequest = QuietRequest<Body?>

  let randomness: any Randomness
  /// The check before the body is read.
  var gate: QuietRoute<Body>.Gate?

  func add(
    _ path: String, to router: Router<QuietContext>,
    decoy: @escaping @Sendable (DecoyRequest) async throws -> PaddedResponse,
    respond: @escaping @Sendable (Request) async throws -> PaddedResponse
  ) {
    router.post(
      RouterPath(path),
      QuietRoute<Body>(
        limit: BodyLimit(
          bytesMax: VerificationLimit.bodyBytesMax, secondsMax: VerificationLimit.bodySecondsMax),
        refusals: .callable, randomness: randomness, isStrict: true, gate: gate, decoy: decoy,
        respond: respond))
  }
}

extension ErrorBody {
  /// The error body of callable functions: `{"error":{"message":…,"status":…}}`.
  static let callable = ErrorBody { refusal in
    CallableFailure(status(of: refusal), message: refusal.message)
  }

  private static func status(of refusal: QuietRefusal) -> CallableStatus {
    switch refusal {
    case .bodyTooLarge, .wrongContentType, .bodyTooSlow, .malformed: .invalidArgument
    case .notFound: .notFound
    case .tooManyAttempts, .quotaUsedUp: .resourceExhausted
    case .unavailable: .unavailable
    case .internalError: .internal
    }
  }
}

extension PaddedResponse {
  /// A response with an error of the ProteGO Safe contract.
  init(_ failure: CallableFailure) throws {
    try self.init(failure, status: HTTPResponse.Status(code: failure.error.status.httpStatus))
  }
}
