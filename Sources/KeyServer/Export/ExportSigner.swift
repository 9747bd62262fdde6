// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets

/// A private key that signs key files, its name in them, and its period of validity.
///
/// An authority changes its key by overlap: the new key signs beside the old one until every phone knows it
/// (see "Signing keys" in Documentation/Exports.md).
public struct ExportSigner: Sendable {
  /// The P-256 private key in PEM, SEC1 or PKCS#8.
  public let privateKeyPEM: String
  /// The key ID in the file; by custom the authority's mobile country code, such as `260`.
  public let keyID: String
  /// The key version in the file, such as `v1`.
  public let keyVersion: String
  /// The start of its validity; nil if unlimited.
  public let validFrom: Date?
  /// The end of its validity, exclusive; nil if unlimited.
  public let validThru: Date?

  /// Creates a signer. The PEM is validated when the server starts.
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

extension ExportSigner: Redacted {
  /// The key ID and version.
  public var description: String { "ExportSigner(\(keyID) \(keyVersion))" }
}
