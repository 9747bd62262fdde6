// SPDX-License-Identifier: Apache-2.0
import Secrets

/// Signs upload tokens with ES256 for the verification server.
public struct UploadTokenIssuer: Sendable {
  /// Claim `iss`.
  public let issuer: String
  /// Claim `aud`: the key server that accepts the tokens.
  public let audience: String
  /// The signing keys.
  public let keys: SigningKeys

  /// An issuer that signs with the newest active key of `keys`.
  public init(keys: SigningKeys, issuer: String, audience: String) {
    self.keys = keys
    self.issuer = issuer
    self.audience = audience
  }

  /// An issuer with one key that never expires: `privateKeyPEM` (P-256, SEC1 or PKCS#8).
  ///
  /// - Throws: if the text is not such a key.
  public init(keyID: String, privateKeyPEM: String, issuer: String, audience: String) throws {
    let key = try SigningKey(keyID: keyID, privateKeyPEM: privateKeyPEM)
    self.init(keys: try SigningKeys([key]), issuer: issuer, audience: audience)
  }

  /// The token for `grant`, signed with the key that is active at its time of issue.
  ///
  /// - Throws: `SigningKeysError.noKeyNow`, or the error of the encoder or of the signature.
  public func token(for grant: UploadGrant) async throws -> String { try text(of: grant) }

  /// The same as `token(for:)`, at once. A key on a token blocks the thread.
  package func text(of grant: UploadGrant) throws -> String {
    try CompactToken.text(
      UploadTokenClaims(grant, issuer: issuer, audience: audience),
      signedBy: keys.signing(at: grant.issuedAt))
  }
}

extension UploadTokenIssuer: Redacted {
  public var description: String { "UploadTokenIssuer(\(issuer))" }
}
