// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// An authority's signing key with the id and version that phones know.
public struct KeyFileSigner: Sendable {
  /// The id and version for the file.
  public let info: SignatureInfo

  private let privateKey: P256.Signing.PrivateKey

  /// Reads a P-256 private key in PEM, SEC1 or PKCS#8.
  ///
  /// - Throws: `KeyFileError.notAPrivateKey`, or `.unusableName` for an empty or too long id or version.
  public init(privateKeyPEM: String, keyID: String, keyVersion: String) throws(KeyFileError) {
    let privateKey: P256.Signing.PrivateKey
    do {
      privateKey = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
    } catch {
      throw .notAPrivateKey
    }
    let usable = 1...KeyFileLimit.verificationKeyNameByteCountMax
    guard usable.contains(keyID.utf8.count), usable.contains(keyVersion.utf8.count) else {
      throw .unusableName
    }
    info = SignatureInfo(verificationKeyID: keyID, verificationKeyVersion: keyVersion)
    self.privateKey = privateKey
  }

  /// The public key in PEM.
  public var publicKeyPEM: String { privateKey.publicKey.pemRepresentation }

  /// Signs the bytes with this digest; the signature is in DER.
  func signature(for digest: SHA256Digest) throws -> Data {
    try privateKey.signature(for: digest).derRepresentation
  }
}

extension KeyFileSigner: Redacted {}
