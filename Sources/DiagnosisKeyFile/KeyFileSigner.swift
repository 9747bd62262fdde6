// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// An authority's signing key with the id and version that phones know.
public struct KeyFileSigner: Sendable {
  /// The id and version for the file.
  public let info: SignatureInfo

  private let key: any P256Signer

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
    try self.init(privateKey, keyID: keyID, keyVersion: keyVersion)
  }

  /// A signer with a key that may be on a token.
  ///
  /// - Throws: `KeyFileError.unusableName` for an empty or too long id or version.
  package init(_ key: any P256Signer, keyID: String, keyVersion: String) throws(KeyFileError) {
    let usable = 1...KeyFileLimit.verificationKeyNameByteCountMax
    guard usable.contains(keyID.utf8.count), usable.contains(keyVersion.utf8.count) else {
      throw .unusableName
    }
    info = SignatureInfo(verificationKeyID: keyID, verificationKeyVersion: keyVersion)
    self.key = key
  }

  /// The public key in PEM.
  public var publicKeyPEM: String { key.publicKey.pemRepresentation }

  /// True if `signature(for:)` asks another device, which may never respond.
  package var mayBlock: Bool { key.mayBlock }

  /// Signs the bytes with this digest; the signature is in DER.
  ///
  /// - Throws: `KeyFileError.cannotSign` with the description of the key's error.
  func signature(for digest: SHA256Digest) throws(KeyFileError) -> Data {
    do {
      return try key.signature(for: digest).derRepresentation
    } catch {
      throw .cannotSign("\(error)")
    }
  }
}

extension KeyFileSigner: Redacted {}
