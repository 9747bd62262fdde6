import Foundation

/// A key that signs key files, the name phones know it by, and when it does.
///
/// An authority changes its key by overlap: the new one signs beside the old one until every phone
/// knows it. Documentation/Exports.md 5.
public struct ExportSigner: Sendable {
  /// The P-256 private key in PEM, SEC1 or PKCS#8.
  public let privateKeyPEM: String
  /// The authority's mobile country code by custom, `260`.
  public let keyID: String
  /// Which version of its key, `v1`.
  public let keyVersion: String
  /// From when it signs; nil for always.
  public let validFrom: Date?
  /// Until when it signs, that moment excluded; nil for good.
  public let validThru: Date?

  /// A signer; whether the PEM is a key is found out when the server starts.
  public init(
    privateKeyPEM: String, keyID: String, keyVersion: String, validFrom: Date? = nil,
    validThru: Date? = nil
  ) {
    self.privateKeyPEM = privateKeyPEM
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.validFrom = validFrom
    self.validThru = validThru
  }
}

extension ExportSigner {
  /// Whether it signs at `moment`.
  func signs(at moment: Date) -> Bool {
    (validFrom ?? .distantPast) <= moment && moment < (validThru ?? .distantFuture)
  }
}

extension ExportSigner: CustomStringConvertible, CustomReflectable {
  public var description: String { "ExportSigner(\(keyID) \(keyVersion))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
