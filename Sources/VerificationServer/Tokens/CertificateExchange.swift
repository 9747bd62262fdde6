import Secrets
import Foundation
import UploadToken
import World

/// Exchanges a verification token for a certificate over one set of keys.
///
/// The certificate is signed first and the token is marked as exchanged afterwards. A retry for the same
/// keys gets a certificate with the same `jti` and a new time, because the first response may have been
/// lost for longer than a certificate is valid.
struct CertificateExchange: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let signing: SigningKeyring
  let certificateLifetime: TimeInterval
  let clock: any WallClock

  /// The result of an exchange.
  enum Outcome: Sendable {
    /// The certificate, a compact JSON Web Token.
    case certified(String)
    /// The token was not issued by this server.
    case invalid
    /// The token has expired, or was exchanged for other keys.
    case expired
  }

  /// Exchanges `token` for a certificate over the keys with `keyHMAC`.
  ///
  /// - Throws: `VerificationServerError` if nothing could be signed or stored; the token stays unused.
  func certificate(for token: String, keyHMAC: Data) async throws -> Outcome {
    let now = clock.now
    guard let token = verified(token, at: now) else { return .invalid }
    guard now < token.expiresAt else { return .expired }
    let name = Data(token.tokenID.utf8)
    let text = try signed(token, name: name, keyHMAC: keyHMAC, at: now)
    let offered = TokenExchange(
      tokenIDHash: keys.hash(of: name, for: .tokenID),
      binding: keys.hash(of: name + keyHMAC, for: .exchange), expiresAt: token.expiresAt)
    let valid = try await storage.exchange(offered, at: now)
    let isSame = isEqualInConstantTime(valid.binding, offered.binding)
    return isSame ? .certified(text) : .expired
  }

  /// Verifies the signature and the issuer, not the expiry.
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
      certificateID: UUID(hash: keys.hash(of: name, for: .certificateID)).text,
      issuedAt: now.addingTimeInterval(-VerificationLimit.certificateSkewSeconds),
      expiresAt: now.addingTimeInterval(certificateLifetime),
      reportType: token.testResult.reportType,
      symptomOnsetInterval: token.testResult.symptomOnsetInterval, keyHMAC: keyHMAC)
    do {
      return try CertificateIssuer(
        keys: signing.keys(), issuer: signing.issuer, audience: signing.audience
      ).text(of: certificate, at: now)
    } catch {
      throw VerificationServerError.signingUnavailable
    }
  }
}

/// The exchange of a verification token for a certificate; the token itself is not stored.
struct TokenExchange: Hashable, Sendable {
  /// The keyed hash of the token's ID.
  var tokenIDHash: Data
  /// The keyed hash of the HMAC over the keys of the certificate.
  var binding: Data
  /// The expiry of the token; after it the exchange can be removed.
  var expiresAt: Date
}
