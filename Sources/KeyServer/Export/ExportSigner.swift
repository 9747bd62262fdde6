// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// A private key that signs key files, its name in them, and its period of validity.
///
/// An authority changes its key by overlap: the new key signs beside the old one until every phone knows it
/// (see "Signing keys" in Documentation/Exports.md).
public struct ExportSigner: Sendable {
  private let source: Source
  /// The key ID in the file; by custom the authority's mobile country code, such as `260`.
  public let keyID: String
  /// The key version in the file, such as `v1`.
  public let keyVersion: String
  /// The start of its validity; nil if unlimited.
  public let validFrom: Date?
  /// The end of its validity, exclusive; nil if unlimited.
  public let validThru: Date?

  private enum Source {
    case pem(String)
    case key(any P256Signer)
  }

  /// A signer with a P-256 private key in PEM, SEC1 or PKCS#8. The PEM is validated when the server starts.
  public init(
    privateKeyPEM: String, keyID: String, keyVersion: String, validFrom: Date? = nil,
    validThru: Date? = nil
  ) {
    self.init(.pem(privateKeyPEM), keyID, keyVersion, validFrom, validThru)
  }

  /// A signer with a key that may be on a token.
  package init(
    key: any P256Signer, keyID: String, keyVersion: String, validFrom: Date? = nil,
    validThru: Date? = nil
  ) {
    self.init(.key(key), keyID, keyVersion, validFrom, validThru)
  }

  private init(
    _ source: Source, _ keyID: String, _ keyVersion: String, _ validFrom: Date?, _ validThru: Date?
  ) {
    self.source = source
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.validFrom = validFrom
    self.validThru = validThru
  }

  /// The same signer with an end that is not later than `end`.
  package func ending(at end: Date) -> ExportSigner {
    ExportSigner(source, keyID, keyVersion, validFrom, min(validThru ?? end, end))
  }

  /// The private key.
  ///
  /// - Throws: `KeyServerError.configuration` if the PEM is not a P-256 private key.
  func key() throws(KeyServerError) -> any P256Signer {
    switch source {
    case .key(let key): return key
    case .pem(let pem):
      do {
        return try P256.Signing.PrivateKey(pemRepresentation: pem)
      } catch {
        throw .configuration("exportSigners: privateKeyPEM must be a P-256 private key.")
      }
    }
  }
}

extension ExportSigner: Redacted {
  /// The key ID and version.
  public var description: String { "ExportSigner(\(keyID) \(keyVersion))" }
}
