// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServerStorage
import TextEncodings
import VerificationAPI
import World

/// POST /api/verify: exchanges a code for a verification token.
struct VerifyRoute: Sendable {
  let verifier: CodeVerifier
  let gate: APIKeyGate
  /// Counts wrong codes, together with those of `AccessTokenRoute`.
  let failures: FailureBudget
  let weights: GuessWeights
  /// Counts the refusals by cause.
  var refusals: RefusalLog?
  let attempts: AttemptCounter

  func add(to router: Router<QuietContext>) {
    GoogleRoute<VerifyRequest>(gate: gate, randomness: verifier.randomness)
      .add(VerificationRoute.verify, to: router, decoy: decoy, respond: respond)
  }

  private func respond(
    _ request: GoogleRoute<VerifyRequest>.Request
  ) async throws -> PaddedResponse {
    let body = request.body.body
    guard let accept = AcceptList(body.accept) else {
      return try PaddedResponse(
        VerificationFailure(
          .invalidTestType, "accept may name confirmed, likely, negative and user-report."))
    }
    let nonce = try Self.nonce(body.nonce)
    let code = CodeParser.code(in: body.code ?? "")
    let weight = try await QuietRefusal.mappingServerErrors(request.context.logger) {
      try await weights.weight(of: code)
    }
    return try await failures.attempt(
      from: request.context, on: code.map { verifier.keys.budgetName(of: $0) },
      weight: weight
    ) {
      guard let code else {
        refusals?.record(.codeForm, at: request.context)
        attempts.count(.codeInvalid, by: request.apiKeyID, on: request.system)
        return .failed(try invalid())
      }
      let outcome = try await QuietRefusal.mappingServerErrors(request.context.logger) {
        try await verifier.verify(code, accepted: accept.types, nonce: nonce)
      }
      if let cause = outcome.cause { refusals?.record(cause, at: request.context) }
      if let event = outcome.event {
        attempts.count(event, by: request.apiKeyID, on: request.system)
      }
      if let event = outcome.reportEvent { attempts.count(event) }
      return try result(outcome)
    }
  }

  private func result(_ outcome: CodeVerifier.Outcome) throws -> AttemptResult<PaddedResponse> {
    switch outcome {
    case .verified(let testResult, let token, _):
      .succeeded(try PaddedResponse(Self.response(testResult, token: token)))
    case .invalid, .invalidNonce: .failed(try invalid())
    case .expired:
      .failed(try PaddedResponse(VerificationFailure(.codeExpired, "The code has expired.")))
    case .unsupported:
      .failed(
        try PaddedResponse(
          VerificationFailure(
            .unsupportedTestType,
            "The code stands for a kind of test that accept does not contain."), status: 412))
    }
  }

  private func invalid() throws -> PaddedResponse {
    try PaddedResponse(
      VerificationFailure(.codeInvalid, "The code does not exist or has been used."))
  }

  /// Returns nil if no nonce was sent.
  ///
  /// - Throws: `.malformed` if the nonce is not base64.
  private static func nonce(_ text: String?) throws(QuietRefusal) -> Data? {
    guard let text, !text.isEmpty else { return nil }
    guard let nonce = Data(base64Encoded: text) else { throw .malformed }
    return nonce
  }

  private static func response(_ testResult: TestResult, token: String) -> VerifyResponse {
    VerifyResponse(
      testtype: testResult.testType.rawValue, symptomDate: testResult.symptomDay?.text,
      testDate: testResult.testDay?.text, token: token)
  }

  /// Looks up a code as a real request does, and responds with random bytes in place of a token.
  private func decoy(
    _ request: GoogleRoute<VerifyRequest>.DecoyRequest
  ) async throws -> PaddedResponse {
    let code =
      CodeParser.code(in: request.body?.body.code ?? "")
      ?? VerificationCode.drawn(from: verifier.randomness)
    // The lookup takes as long as that of a real request, and its result is not used.
    _ = try? await verifier.storage.code(verifier.keys.hash(of: code))
    let today = CalendarDay(verifier.clock.now)
    let testResult = TestResult(testType: .confirmed, symptomDay: today)
    let noToken = Data(verifier.randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try PaddedResponse(Self.response(testResult, token: noToken))
  }

  /// The approximate size of a token, in bytes.
  private static let decoyBytes = 300
}

/// The kinds of test that an app supports; an absent or empty list stands for all.
private struct AcceptList: Sendable {
  let types: Set<TestType>

  /// Returns nil if one of `names` is not a kind of test.
  init?(_ names: [String]?) {
    guard let names, !names.isEmpty else {
      types = Set(TestType.allCases)
      return
    }
    let named = names.compactMap(TestType.init(rawValue:))
    guard named.count == names.count else { return nil }
    types = named.reduce(into: []) { $0.formUnion($1.accepted) }
  }
}

/// POST /api/certificate: exchanges a verification token for a certificate.
struct CertificateRoute: Sendable {
  let exchange: CertificateExchange
  let gate: APIKeyGate
  let failures: FailureBudget
  var refusals: RefusalLog?
  let attempts: AttemptCounter
  let randomness: any Randomness

  func add(to router: Router<QuietContext>) {
    GoogleRoute<CertificateRequest>(gate: gate, randomness: randomness)
      .add(VerificationRoute.certificate, to: router, decoy: decoy, respond: respond)
  }

  private func respond(
    _ request: GoogleRoute<CertificateRequest>.Request
  ) async throws -> PaddedResponse {
    let body = request.body.body
    guard let hmac = Self.keyHMAC(body.ekeyhmac) else {
      return try PaddedResponse(
        VerificationFailure(.hmacInvalid, "ekeyhmac must be base64 of 32 bytes."))
    }
    return try await failures.attempt(from: request.context) {
      let outcome = try await QuietRefusal.mappingServerErrors(request.context.logger) {
        try await exchange.certificate(for: body.token ?? "", keyHMAC: hmac)
      }
      if case .certified = outcome {} else { refusals?.record(.token, at: request.context) }
      if let event = outcome.event { attempts.count(event, by: request.apiKeyID) }
      if let event = outcome.reportEvent { attempts.count(event) }
      return switch outcome {
      case .certified(let text, _, _):
        .succeeded(try PaddedResponse(CertificateResponse(certificate: text)))
      case .invalid:
        .failed(
          try PaddedResponse(VerificationFailure(.tokenInvalid, "The token does not exist.")))
      case .expired:
        .failed(
          try PaddedResponse(
            VerificationFailure(
              .tokenExpired, "The token has expired or was used for other keys.")))
      }
    }
  }

  /// Decodes 32 bytes in standard or URL-safe base64, padded or not.
  private static func keyHMAC(_ text: String?) -> Data? {
    guard let bytes = text.flatMap(Base64.bytes), bytes.count == VerificationLimit.keyHMACBytes
    else { return nil }
    return Data(bytes)
  }

  /// Responds with random bytes in place of a certificate.
  private func decoy(
    _ request: GoogleRoute<CertificateRequest>.DecoyRequest
  ) async throws -> PaddedResponse {
    let noCertificate = Data(randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try PaddedResponse(CertificateResponse(certificate: noCertificate))
  }

  /// The approximate size of a certificate, in bytes.
  private static let decoyBytes = 380
}

/// POST /api/user-report: a code by SMS for a test that the user made.
struct UserReportRoute: Sendable {
  let reports: UserReports
  let gate: APIKeyGate

  private typealias Request = GoogleRoute<UserReportRequest>.Request

  private var codeIssuer: CodeIssuer { reports.codeIssuer }

  func add(to router: Router<QuietContext>) {
    GoogleRoute<UserReportRequest>(gate: gate, randomness: codeIssuer.randomness)
      .add(VerificationRoute.userReport, to: router, decoy: decoy, respond: respond)
  }

  private func respond(_ request: Request) async throws -> PaddedResponse {
    let report: ValidatedUserReport
    do throws(VerificationFailure) {
      report = try ValidatedUserReport(
        request.body.body, isAllowed: reports.isOffered, now: codeIssuer.clock.now)
    } catch {
      return try PaddedResponse(error)
    }
    return try response(
      try await reports.accept(report, under: request.apiKeyID, in: request.context))
  }

  private func response(_ expiresAt: Date) throws -> PaddedResponse {
    try PaddedResponse(
      UserReportResponse(
        expiresAt: UTCTime.rfc1123(expiresAt), expiresAtTimestamp: expiresAt.unixSecond))
  }

  /// Responds as if a code had been sent.
  private func decoy(
    _ request: GoogleRoute<UserReportRequest>.DecoyRequest
  ) async throws -> PaddedResponse {
    try response(codeIssuer.clock.now.addingTimeInterval(codeIssuer.policy.shortCodeLifetime))
  }
}
