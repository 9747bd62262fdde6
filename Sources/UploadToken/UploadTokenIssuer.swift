import Foundation

/// Signs upload tokens for the verification server: ES256, the key named by `kid`.
///
/// Documentation/SeedContract.md 3.1.
public struct UploadTokenIssuer: Sendable {
  /// Claim `iss`: who issues.
  public let issuer: String
  /// Claim `aud`: the one server that the tokens are for.
  public let audience: String
  /// The keys it signs with, in turn.
  public let keys: SigningKeys

  /// Signs with the newest of `keys`.
  public init(keys: SigningKeys, issuer: String, audience: String) {
    self.keys = keys
    self.issuer = issuer
    self.audience = audience
  }

  /// Signs with `privateKeyPEM` (P-256, SEC1 or PKCS#8), for ever.
  ///
  /// - Throws: where the text is no such key.
  public init(keyID: String, privateKeyPEM: String, issuer: String, audience: String) throws {
    let key = try SigningKey(keyID: keyID, privateKeyPEM: privateKeyPEM)
    self.init(keys: try SigningKeys([key]), issuer: issuer, audience: audience)
  }

  /// The token that says `grant`, signed with the key that is good when it is issued.
  ///
  /// - Throws: where signing fails; nothing is issued then.
  public func token(for grant: UploadGrant) async throws -> String {
    try CompactToken.text(
      UploadTokenClaims(grant, issuer: issuer, audience: audience),
      signedBy: keys.signing(at: grant.issuedAt))
  }
}

extension UploadTokenIssuer: CustomStringConvertible, CustomReflectable {
  public var description: String { "UploadTokenIssuer(\(issuer))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
