import Crypto
import Foundation
import UploadToken
import World

/// Gives the certificate of a verification token: for one set of keys, as often as it is asked for them.
///
/// Documentation/VerificationServer.md 2.5. The certificate is signed first and the token spent afterwards. Asked
/// again for the same keys, a certificate of the same `jti` is signed anew: with a fresh time, since
/// an answer may be lost for longer than a certificate lives.
struct CertificateExchange: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: SigningKeyring
  let certificateLifetime: TimeInterval
  let clock: any WallClock

  /// What a token turned out to be.
  enum Outcome: Sendable {
    /// Good: the certificate's text.
    case certified(String)
    /// Not one of ours.
    case invalid
    /// Too old, or spent for other keys.
    case expired
  }

  /// What `token` turns out to be for the keys of `keyHMAC`.
  ///
  /// - Throws: `VerificationServerError` where nothing could be signed or kept; the token stays good.
  func certificate(for token: String, keyHMAC: Data) async throws -> Outcome {
    let now = clock.now
    guard let token = verified(token, at: now) else { return .invalid }
    guard now < token.expiresAt else { return .expired }
    let name = Data(token.tokenID.utf8)
    let text = try signed(token, name: name, keyHMAC: keyHMAC, at: now)
    let wanted = TokenExchange(
      tokenMark: keys.mark(of: name, as: .tokenID),
      binding: keys.mark(of: name + keyHMAC, as: .exchange), expiresAt: token.expiresAt)
    let held = try await storage.exchange(wanted)
    let isSame = SymmetricKey(data: held.binding) == SymmetricKey(data: wanted.binding)
    return isSame ? .certified(text) : .expired
  }

  /// The token, once its signature and claims hold; whether it is too old is said apart.
  private func verified(_ text: String, at now: Date) -> VerificationToken? {
    guard let signed = try? CompactToken(text),
      let key = signing.keys().verifying(at: now)[signed.keyID],
      let claims = try? signed.claims(VerificationToken.Claims.self, signedBy: key)
    else { return nil }
    return VerificationToken(claims, issuer: signing.issuer)
  }

  private func signed(
    _ token: VerificationToken, name: Data, keyHMAC: Data, at now: Date
  ) throws -> String {
    let certificate = VerificationCertificate(
      certificateID: UUID(mark: keys.mark(of: name, as: .certificateID)).text,
      issuedAt: now.addingTimeInterval(-VerificationLimit.certificateSkewSeconds),
      expiresAt: now.addingTimeInterval(certificateLifetime), reportType: token.finding.reportType,
      symptomOnsetInterval: token.finding.symptomOnsetInterval, keyHMAC: keyHMAC)
    do {
      return try CertificateIssuer(
        keys: signing.keys(), issuer: signing.issuer, audience: signing.audience
      ).text(of: certificate, at: now)
    } catch {
      throw VerificationServerError.signingUnavailable
    }
  }
}

/// That a verification token was exchanged, and for which keys. The token itself is not kept.
struct TokenExchange: Hashable, Sendable {
  /// The mark of the token's name.
  var tokenMark: Data
  /// The mark of the HMAC over the keys that it was exchanged for.
  var binding: Data
  /// When the token expires; afterwards nobody can ask again.
  var expiresAt: Date
}
