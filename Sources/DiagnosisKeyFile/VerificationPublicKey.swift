// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

/// An authority's public key, as configured on a phone.
public struct VerificationPublicKey: Sendable {
  /// The id in signatures, usually the mobile country code.
  public let keyID: String
  /// The version in signatures, such as `v1`.
  public let keyVersion: String

  private let publicKey: P256.Signing.PublicKey

  /// Reads a P-256 public key in PEM.
  ///
  /// - Throws: `KeyFileError.notAPublicKey` if it is not one.
  public init(keyID: String, keyVersion: String, publicKeyPEM: String) throws(KeyFileError) {
    do {
      publicKey = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
    } catch {
      throw .notAPublicKey
    }
    self.keyID = keyID
    self.keyVersion = keyVersion
  }

  /// Returns `true` if `signature` (DER) is by this key over the bytes with this digest.
  func isValid(_ signature: some DataProtocol, for digest: SHA256Digest) -> Bool {
    // Bytes without the form of a signature are a wrong one.
    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
      return false
    }
    return publicKey.isValidSignature(signature, for: digest)
  }
}
