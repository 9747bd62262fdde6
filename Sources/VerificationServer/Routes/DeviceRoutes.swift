import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /api/verify: a code for a verification token.
///
/// Documentation/VerificationServer.md 2.2 and 2.3.
struct VerifyRoute: Sendable {
  let verification: CodeVerification
  let caller: Caller
  let attempts: Attempts

  func add(to router: Router<QuietContext>) {
    GoogleRoute<VerifyRequest>(caller: caller, randomness: verification.randomness)
      .add(VerificationRoute.verify, to: router, decoy: decoy, answer: answer)
  }

  private func answer(_ request: GoogleRoute<VerifyRequest>.Question) async throws -> QuietAnswer {
    let asked = request.body.body
    guard let accept = AcceptList(asked.accept) else {
      return try QuietAnswer(
        VerificationFailure(
          .invalidTestType, "accept may name confirmed, likely, negative and user-report."))
    }
    let nonce = try Self.nonce(asked.nonce)
    try await attempts.count(from: request.context)
    try await attempts.count(under: request.apiKeyID)
    guard let code = WrittenCodes.code(in: asked.code ?? "") else { return try invalid() }
    let outcome = try await attempts.fairly(
      with: verification.keys.hash(of: code), under: request.apiKeyID, from: request.context
    ) {
      try await verification.verify(code, accepted: accept.types, nonce: nonce)
    }
    return try await said(outcome, request)
  }

  private func said(
    _ outcome: CodeVerification.Outcome, _ request: GoogleRoute<VerifyRequest>.Question
  ) async throws -> QuietAnswer {
    switch outcome {
    case .verified(let finding, let token):
      await attempts.forgive(request.context)
      await attempts.forgive(under: request.apiKeyID)
      return try QuietAnswer(Self.answer(finding, token: token))
    case .invalid: return try invalid()
    case .expired:
      return try QuietAnswer(VerificationFailure(.codeExpired, "The code is too old."))
    case .unsupported:
      return try QuietAnswer(
        VerificationFailure(
          .unsupportedTestType, "The code stands for a kind of test that accept does not name."),
        status: 412)
    }
  }

  private func invalid() throws -> QuietAnswer {
    try QuietAnswer(
      VerificationFailure(.codeInvalid, "There is no such code, or it has been used."))
  }

  /// The nonce's bytes; nil where none was sent.
  ///
  /// - Throws: `.malformed` where it is not base64.
  private static func nonce(_ text: String?) throws(QuietRefusal) -> Data? {
    guard let text, !text.isEmpty else { return nil }
    guard let nonce = Data(base64Encoded: text) else { throw .malformed }
    return nonce
  }

  private static func answer(_ finding: Finding, token: String) -> VerifyAnswer {
    VerifyAnswer(
      testtype: finding.testType.rawValue, symptomDate: finding.symptomDay?.text,
      testDate: finding.testDay?.text, token: token)
  }

  /// Looks a code up as a real request does, and answers with what nobody would take.
  private func decoy(
    _ request: GoogleRoute<VerifyRequest>.DecoyQuestion
  ) async throws -> QuietAnswer {
    let code =
      WrittenCodes.code(in: request.body?.body.code ?? "")
      ?? VerificationCode.drawn(
        from: verification.randomness)
    _ = try? await verification.storage.code(verification.keys.hash(of: code))
    let today = CalendarDay(verification.clock.now)
    let finding = Finding(testType: .confirmed, symptomDay: today)
    let noToken = Data(verification.randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try QuietAnswer(Self.answer(finding, token: noToken))
  }

  /// About the size of a token, in bytes.
  private static let decoyBytes = 300
}

/// The kinds of test that an app can deal with.
///
/// Documentation/VerificationServer.md 2.2: `likely` includes `confirmed`, `negative` both; an empty list is all
/// there are.
struct AcceptList: Sendable {
  let types: Set<TestType>

  /// Nil where one of `names` is no kind of test.
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

/// POST /api/certificate: a verification token for a certificate.
///
/// Documentation/VerificationServer.md 2.5 and 2.6.
struct CertificateRoute: Sendable {
  let exchange: CertificateExchange
  let caller: Caller
  let attempts: Attempts
  let randomness: any Randomness

  func add(to router: Router<QuietContext>) {
    GoogleRoute<CertificateRequest>(caller: caller, randomness: randomness)
      .add(VerificationRoute.certificate, to: router, decoy: decoy, answer: answer)
  }

  private func answer(
    _ request: GoogleRoute<CertificateRequest>.Question
  ) async throws -> QuietAnswer {
    let asked = request.body.body
    guard let hmac = Self.keyHMAC(asked.ekeyhmac) else {
      return try QuietAnswer(
        VerificationFailure(.hmacInvalid, "ekeyhmac must be base64 of 32 bytes."))
    }
    try await attempts.count(from: request.context)
    let outcome = try await attempts.fairly(from: request.context) {
      try await exchange.certificate(for: asked.token ?? "", keyHMAC: hmac)
    }
    switch outcome {
    case .certified(let text):
      await attempts.forgive(request.context)
      return try QuietAnswer(CertificateAnswer(certificate: text))
    case .invalid:
      return try QuietAnswer(VerificationFailure(.tokenInvalid, "There is no such token."))
    case .expired:
      return try QuietAnswer(
        VerificationFailure(.tokenExpired, "The token is too old, or has been used for other keys.")
      )
    }
  }

  /// The 32 bytes of `text`, in either alphabet of base64, padded or not.
  private static func keyHMAC(_ text: String?) -> Data? {
    let standard = (text ?? "").replacing("-", with: "+").replacing("_", with: "/")
    let bare = standard.replacing("=", with: "")
    let padding = String(repeating: "=", count: (4 - bare.count % 4) % 4)
    guard let bytes = Data(base64Encoded: bare + padding) else { return nil }
    return bytes.count == VerificationLimit.keyHMACBytes ? bytes : nil
  }

  /// Answers with what no verifier would take.
  private func decoy(
    _ request: GoogleRoute<CertificateRequest>.DecoyQuestion
  ) async throws -> QuietAnswer {
    let noCertificate = Data(randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try QuietAnswer(CertificateAnswer(certificate: noCertificate))
  }

  /// About the size of a certificate, in bytes.
  private static let decoyBytes = 380
}
