import Crypto
import Foundation
import UploadToken
import VerificationAPI
import World

/// Gives the token that a code is good for: once, and again to the same asker.
///
/// Documentation/SeedContract.md 3.4. The token is signed first and the code used up afterwards, with
/// the token, in one transaction: a failure before leaves the code good, and a failure after loses
/// only an answer, which can be asked for again.
struct CodeRedemption: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: any TokenSigning
  let tokenLifetime: TimeInterval
  let clock: any WallClock
  let randomness: any Randomness

  /// The token of `code`, or nil where the code is unknown, expired or used by somebody else.
  ///
  /// - Throws: `VerificationServerError` where nothing could be signed or kept; the code stays good.
  func token(for code: VerificationCode, keyHMAC: Data?) async throws -> String? {
    let now = clock.now
    let hash = keys.hash(of: code)
    let binding = keys.binding(of: keyHMAC, to: hash)
    guard let live = try await storage.liveCode(hash, at: now), live.nonceMark == nil else {
      return nil
    }
    guard
      let held = try await redemption(
        of: live, hash: hash, at: now,
        by: {
          try await offer(code, finding: live.finding, keyHMAC: keyHMAC, binding: binding, at: now)
        })
    else { return nil }
    guard SymmetricKey(data: held.binding) == SymmetricKey(data: binding) else { return nil }
    return try held.sealedToken.text(for: code, keys: keys)
  }

  /// The redemption that holds: the one that came first, be it this one or another.
  private func redemption(
    of live: LiveCode, hash: CodeHash, at now: Date, by offer: () async throws -> Redemption
  ) async throws -> Redemption? {
    if let earlier = live.redemption { return earlier }
    return try await storage.redeem(hash, as: offer(), at: now)
  }

  /// A signed and sealed token that is not issued yet.
  private func offer(
    _ code: VerificationCode, finding: Finding, keyHMAC: Data?, binding: Data, at now: Date
  ) async throws -> Redemption {
    let grant = UploadGrant(
      tokenID: UUID(from: randomness).text, issuedAt: now,
      expiresAt: now.addingTimeInterval(tokenLifetime),
      reportType: finding.reportType, symptomOnsetInterval: finding.symptomOnsetInterval,
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
