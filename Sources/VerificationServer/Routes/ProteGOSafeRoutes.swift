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

/// POST /generateCodesBatch: many new codes for the health authority's own systems.
///
/// Documentation/SeedContract.md 2.5.
struct GenerateCodesBatchRoute: Sendable {
  typealias Route = CallableRoute<GenerateCodesBatchRequest>

  let issuance: CodeIssuance
  let operators: Operators

  func add(to router: Router<QuietContext>) {
    Route(randomness: issuance.randomness, gate: operators.gate)
      .add(VerificationRoute.generateCodesBatch, to: router, decoy: decoy, answer: answer)
  }

  private func answer(_ request: Route.Question) async throws -> QuietAnswer {
    guard let count = request.body.data?.numberOfCodes,
      VerificationLimit.batchCodes.contains(count),
      let duration = request.body.data?.duration, Self.isLifetime(duration)
    else {
      return try QuietAnswer(
        CallableFailure(
          .invalidArgument,
          message:
            "numberOfCodes must be 1 to 1000, duration 1800 or a multiple of 3600 up to 86400."
        ))
    }
    let codes = try await QuietRefusal.whereStorageFails(request.context.logger) {
      try await issuance.codes(
        count, for: Finding(testType: .confirmed), lifetime: TimeInterval(duration))
    }
    return try QuietAnswer(CallableAnswer(result: codes.map(\.characters)))
  }

  /// Half an hour, or whole hours up to a day, in seconds.
  private static func isLifetime(_ seconds: Int) -> Bool {
    seconds == 1_800 || ((3_600...86_400).contains(seconds) && seconds % 3_600 == 0)
  }

  /// As many codes as were asked for, of which none is kept.
  private func decoy(_ request: Route.DecoyQuestion) async throws -> QuietAnswer {
    let limits = VerificationLimit.batchCodes
    let count = request.body?.data?.numberOfCodes ?? limits.lowerBound
    let wanted = min(max(count, limits.lowerBound), limits.upperBound)
    let codes = (0..<wanted).map { _ in VerificationCode.drawn(from: issuance.randomness) }
    return try QuietAnswer(CallableAnswer(result: codes.map(\.characters)))
  }
}

/// POST /getAccessToken: a code for a token.
///
/// Documentation/SeedContract.md 3.4 to 3.6 and 3.8. A missing, unknown, used and expired code get one and the
/// same answer, so that nobody learns from it which codes there are.
struct AccessTokenRoute: Sendable {
  typealias Route = CallableRoute<AccessTokenRequest>

  let redemption: CodeRedemption
  let netmasks: Netmasks
  let attempts: Attempts

  func add(to router: Router<QuietContext>) {
    Route(randomness: redemption.randomness, gate: gate)
      .add(VerificationRoute.accessToken, to: router, decoy: decoy, answer: answer)
  }

  /// Looks at the address before the body is read, of decoys as well.
  private func gate(headers: HTTPFields, context: QuietContext) throws -> QuietAnswer? {
    guard !netmasks.contain(context) else { return nil }
    return try QuietAnswer(
      CallableFailure(.permissionDenied, message: "Ask from where apps may ask this server."))
  }

  private func answer(_ request: Route.Question) async throws -> QuietAnswer {
    try await attempts.count(from: request.context)
    let keyHMAC = try KeyHMACField(request.body.data?.ekeyhmac)
    guard let code = request.body.data?.code.flatMap({ VerificationCode($0) }) else {
      return try invalidCode()
    }
    let token = try await attempts.fairly(
      with: redemption.keys.hash(of: code), from: request.context
    ) { try await redemption.token(for: code, keyHMAC: keyHMAC.bytes) }
    guard let token else { return try invalidCode() }
    await attempts.forgive(request.context)
    return try QuietAnswer(CallableAnswer(result: AccessTokenAnswer(accessToken: token)))
  }

  /// Looks a code up as a real request does, and answers with what no verifier would take.
  private func decoy(_ request: Route.DecoyQuestion) async throws -> QuietAnswer {
    let typed = request.body?.data?.code.flatMap { VerificationCode($0) }
    let code = typed ?? VerificationCode.drawn(from: redemption.randomness)
    _ = try? await redemption.storage.code(redemption.keys.hash(of: code))
    let noToken = Data(redemption.randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try QuietAnswer(CallableAnswer(result: AccessTokenAnswer(accessToken: noToken)))
  }

  private func invalidCode() throws -> QuietAnswer {
    try QuietAnswer(CallableFailure(.notFound, message: VerificationRoute.invalidCode))
  }

  /// About the size of a token, in bytes.
  private static let decoyBytes = 330
}

/// The field `ekeyhmac` of a token request: absent, or base64 of exactly 32 bytes.
struct KeyHMACField: Sendable {
  /// The HMAC over the keys; nil where none was sent.
  let bytes: Data?

  /// - Throws: `.malformed` where something else was sent; the code has not been touched by then.
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
