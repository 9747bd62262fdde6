import Crypto
import Foundation

/// Checks upload tokens for the key server: one algorithm, one key chosen by `kid`, every claim.
///
/// Documentation/SeedContract.md 3.3.
public struct UploadTokenVerifier: Sendable {
  private let issuer: String
  private let audience: String
  private let keys: [String: P256.Signing.PublicKey]

  /// Trusts the keys of `publicKeysPEM`, by key id (P-256, SubjectPublicKeyInfo).
  ///
  /// - Throws: where one of them is no such key.
  public init(issuer: String, audience: String, publicKeysPEM: [String: String]) throws {
    self.issuer = issuer
    self.audience = audience
    keys = try publicKeysPEM.mapValues { try P256.Signing.PublicKey(pemRepresentation: $0) }
  }

  /// The token, once everything about it holds at `now`.
  public func verified(
    _ token: UnverifiedUploadToken, at now: Date
  ) async throws(UploadTokenRefusal) -> VerifiedUploadToken {
    let signed = try CompactToken(token.text)
    guard signed.isES256 else { throw .wrongSignature }
    guard let key = keys[signed.keyID] else { throw .unknownKey }
    let claims = try signed.claims(UploadTokenClaims.self, signedBy: key)
    guard claims.iss == issuer else { throw .wrongIssuer }
    guard claims.aud.names == [audience] else { throw .wrongAudience }
    guard let grant = claims.grant else { throw .malformed }
    guard now.timeIntervalSince1970 >= TimeInterval(claims.nbf) else { throw .notYetValid }
    guard now < grant.expiresAt else { throw .expired }
    return VerifiedUploadToken(grant)
  }
}
