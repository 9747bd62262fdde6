/// A key that signs key files, and the name phones know it by.
public struct ExportSigner: Sendable {
  /// The P-256 private key in PEM, SEC1 or PKCS#8.
  public let privateKeyPEM: String
  /// The authority's mobile country code by custom, `260`.
  public let keyID: String
  /// Which version of its key, `v1`.
  public let keyVersion: String

  /// A signer; whether the PEM is a key is found out when the server starts.
  public init(privateKeyPEM: String, keyID: String, keyVersion: String) {
    self.privateKeyPEM = privateKeyPEM
    self.keyID = keyID
    self.keyVersion = keyVersion
  }
}

extension ExportSigner: CustomStringConvertible, CustomReflectable {
  public var description: String { "ExportSigner(\(keyID) \(keyVersion))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
