/// Asks for the certificate of a verification token, bound to the keys that will be published.
public struct CertificateRequest: Codable, Sendable, Hashable {
  /// The verification token.
  public var token: String?
  /// Base64 of HMAC-SHA256 over the keys, 32 bytes.
  public var ekeyhmac: String?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Asks for the certificate of `token` for the keys of `ekeyhmac`.
  public init(token: String?, ekeyhmac: String?, padding: String? = nil) {
    self.token = token
    self.ekeyhmac = ekeyhmac
    self.padding = padding
  }
}

extension CertificateRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "CertificateRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
