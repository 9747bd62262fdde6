import Foundation

/// Signs verification certificates: ES256, the key named by `kid`.
public struct CertificateIssuer: Sendable {
  private let keys: SigningKeys
  private let issuer: String
  private let audience: String

  /// Signs with the newest of `keys`, as `issuer` (`iss`) for the key server `audience` (`aud`).
  public init(keys: SigningKeys, issuer: String, audience: String) {
    self.keys = keys
    self.issuer = issuer
    self.audience = audience
  }

  /// The text of `certificate`, signed with the key that is good at `now`.
  ///
  /// - Throws: where signing fails; nothing is issued then.
  public func text(of certificate: VerificationCertificate, at now: Date) throws -> String {
    try CompactToken.text(
      CertificateClaims(certificate, issuer: issuer, audience: audience),
      signedBy: keys.signing(at: now))
  }
}
