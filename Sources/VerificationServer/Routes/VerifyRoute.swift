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
