/// A certificate whose signature, issuer, audience and time hold. Only `CertificateVerifier` makes one.
public struct VerifiedCertificate: Sendable {
  /// Who issued it; whether an app may use this issuer is for the key server to say.
  public let issuer: String
  /// What it certifies. Whether the keys are those of `keyHMAC` is for the key server to check.
  public let certificate: VerificationCertificate

  init(issuer: String, _ certificate: VerificationCertificate) {
    self.issuer = issuer
    self.certificate = certificate
  }
}

extension VerifiedCertificate: CustomStringConvertible, CustomReflectable {
  public var description: String { "VerifiedCertificate(\(certificate.reportType))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
