import Foundation
import JWTKit

/// Checks upload tokens for the key server: one algorithm, one key chosen by `kid`, every claim.
///
/// Documentation/SeedContract.md 3.3.
public struct UploadTokenVerifier: Sendable {
  private let issuer: String
  private let audience: String
  private let keys: [String: ES256PublicKey]

  /// Trusts the keys of `publicKeysPEM`, by key id (P-256, SubjectPublicKeyInfo).
  ///
  /// - Throws: where one of them is no such key.
  public init(issuer: String, audience: String, publicKeysPEM: [String: String]) throws {
    self.issuer = issuer
    self.audience = audience
    keys = try publicKeysPEM.mapValues { try ES256PublicKey(pem: $0) }
  }

  /// The token, once everything about it holds at `now`.
  public func verified(
    _ token: UnverifiedUploadToken, at now: Date
  ) async throws(UploadTokenRefusal) -> VerifiedUploadToken {
    let header = try UploadTokenHeader(of: token)
    guard header.isES256 else { throw .wrongSignature }
    guard let key = keys[header.keyID] else { throw .unknownKey }
    let claims = try await Self.claims(of: token, signedBy: key, keyID: header.keyID)
    guard claims.iss == issuer else { throw .wrongIssuer }
    guard claims.aud.value == [audience] else { throw .wrongAudience }
    guard let grant = claims.grant else { throw .malformed }
    guard now.timeIntervalSince1970 >= TimeInterval(claims.nbf) else { throw .notYetValid }
    guard now < grant.expiresAt else { throw .expired }
    return VerifiedUploadToken(grant)
  }

  /// The claims, read only after the signature over them holds.
  private static func claims(
    of token: UnverifiedUploadToken, signedBy key: ES256PublicKey, keyID: String
  ) async throws(UploadTokenRefusal) -> UploadTokenClaims {
    // A collection of this one key: no other key can stand in for it.
    let kid = JWKIdentifier(string: keyID)
    let keys = await JWTKeyCollection().add(ecdsa: key, kid: kid)
    do {
      return try await keys.verify(token.text, as: UploadTokenClaims.self)
    } catch is DecodingError {
      throw .malformed
    } catch let error as JWTError where error.errorType == .malformedToken {
      throw .malformed
    } catch {
      throw .wrongSignature
    }
  }
}
