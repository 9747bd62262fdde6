import Secrets
import Foundation
import UploadToken
import VerificationAPI
import World

/// Exchanges a PIN for an upload token: once, and again for the same client.
///
/// The token is signed first. Then the code is marked as used and the token stored in one transaction. An
/// error before that leaves the code unused; a response lost after it can be requested again.
struct CodeRedeemer: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: any TokenSigning
  let tokenLifetime: TimeInterval
  let clock: any WallClock
  let randomness: any Randomness

  /// Returns the token of `code`, or nil if the code is unknown, expired or used by another client.
  ///
  /// - Throws: `VerificationServerError` if nothing could be signed or stored; the code stays unused.
  func token(for code: VerificationCode, keyHMAC: Data?) async throws -> String? {
    let now = clock.now
    let hash = keys.hash(of: code)
    let binding = keys.binding(of: keyHMAC, to: hash)
    guard let live = try await storage.liveCode(hash, at: now), live.nonceHash == nil else {
      return nil
    }
    guard
      let valid = try await redemption(
        of: live, hash: hash, at: now,
        by: {
          try await offer(
            code, testResult: live.testResult, keyHMAC: keyHMAC, binding: binding, at: now)
        })
    else { return nil }
    guard isEqualInConstantTime(valid.binding, binding) else { return nil }
    return try valid.sealedToken.text(for: code, keys: keys)
  }

  /// The redemption that is stored, from this request or an earlier one.
  private func redemption(
    of live: StoredCode, hash: CodeHash, at now: Date, by offer: () async throws -> Redemption
  ) async throws -> Redemption? {
    if let earlier = live.redemption { return earlier }
    return try await storage.redeem(hash, as: offer(), at: now)
  }

  /// Signs and encrypts a token that is not stored yet.
  private func offer(
    _ code: VerificationCode, testResult: TestResult, keyHMAC: Data?, binding: Data, at now: Date
  ) async throws -> Redemption {
    let grant = UploadGrant(
      tokenID: UUID(from: randomness).text, issuedAt: now,
      expiresAt: now.addingTimeInterval(tokenLifetime),
      reportType: testResult.reportType, symptomOnsetInterval: testResult.symptomOnsetInterval,
      keyHMAC: keyHMAC)
    do {
      let token = try await signing.token(for: grant)
      let nonce = randomness.bytes(SealedToken.nonceBytes)
      return Redemption(
        binding: binding,
        sealedToken: try SealedToken(token, for: code, keys: keys, nonce: nonce))
    } catch {
      throw VerificationServerError.signingUnavailable
    }
  }
}
