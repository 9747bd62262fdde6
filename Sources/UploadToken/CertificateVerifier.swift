import Foundation

/// Checks verification certificates for the key server: one algorithm, the authority named by `iss`, the
/// key of that authority named by `kid`, every claim.
public struct CertificateVerifier: Sendable {
  private let authorities: [String: CertificateAuthority]

  /// Believes `authorities`. Where two have the same issuer the last one holds.
  public init(authorities: [CertificateAuthority]) {
    self.authorities = Dictionary(authorities.map { ($0.issuer, $0) }) { _, last in last }
  }

  /// The certificate, once everything about it holds at `now`.
  ///
  /// - Throws: `UploadTokenRefusal`; the caller of the key server hears one 401 for all of them.
  public func verified(
    _ certificate: UnverifiedCertificate, at now: Date
  ) throws(UploadTokenRefusal) -> VerifiedCertificate {
    let signed = try CompactToken(certificate.text)
    guard signed.isES256 else { throw .wrongSignature }
    // Read once. Before the signature holds it only says by whose key to check, and nothing else counts.
    guard let claims = signed.certificateHint else { throw .malformed }
    guard let authority = authorities[claims.iss] else { throw .wrongIssuer }
    guard let key = authority.key(signed.keyID, at: now) else { throw .unknownKey }
    try signed.checkSignature(by: key)
    guard claims.aud.names == [authority.audience] else { throw .wrongAudience }
    guard let content = claims.certificate else { throw .malformed }
    guard now >= content.issuedAt else { throw .notYetValid }
    guard now < content.expiresAt else { throw .expired }
    return VerifiedCertificate(issuer: authority.issuer, content)
  }
}
