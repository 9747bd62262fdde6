import Foundation
import JWTKit

/// Signs upload tokens for the verification server: ES256, the key named by `kid`.
///
/// Documentation/SeedContract.md 3.1.
public struct UploadTokenIssuer: Sendable {
  private let keyID: String
  private let key: ES256PrivateKey
  private let issuer: String
  private let audience: String

  /// Signs with `privateKeyPEM` (P-256, SEC1 or PKCS#8).
  ///
  /// - Throws: where the text is no such key.
  public init(keyID: String, privateKeyPEM: String, issuer: String, audience: String) throws {
    self.keyID = keyID
    self.key = try ES256PrivateKey(pem: privateKeyPEM)
    self.issuer = issuer
    self.audience = audience
  }

  /// The token that says `grant`.
  ///
  /// - Throws: where signing fails; nothing is issued then.
  public func token(for grant: UploadGrant) async throws -> String {
    let kid = JWKIdentifier(string: keyID)
    let keys = await JWTKeyCollection().add(ecdsa: key, kid: kid)
    return try await keys.sign(
      UploadTokenClaims(grant, issuer: issuer, audience: audience), kid: kid)
  }

  /// The public half, for whoever verifies: PEM, SubjectPublicKeyInfo.
  public var publicKeyPEM: String { key.publicKey.pemRepresentation }
}

extension UploadTokenIssuer: CustomStringConvertible, CustomReflectable {
  public var description: String { "UploadTokenIssuer(key \(keyID))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
