import UploadToken

/// The certificate with which keys can be published.
public struct CertificateAnswer: Codable, Sendable, Hashable {
  /// The certificate's text.
  public var certificate: String

  /// Answers with `certificate`.
  public init(certificate: String) {
    self.certificate = certificate
  }

  /// The certificate, not yet believed.
  public var unverified: UnverifiedCertificate { UnverifiedCertificate(certificate) }
}

extension CertificateAnswer: CustomStringConvertible, CustomReflectable {
  public var description: String { "CertificateAnswer" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
