// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

/// The public root key, the only key that a phone is configured with.
public struct RootKey: Sendable {
  let publicKey: P256.Signing.PublicKey
  /// The SHA-256 of the key, by which a phone recognizes a document of another authority.
  public let fingerprint: Data

  /// Reads a P-256 public key in PEM.
  ///
  /// - Throws: `DeviceConfigurationError.invalid` if the text is not such a key.
  public init(publicKeyPEM: String) throws(DeviceConfigurationError) {
    do {
      self.init(try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM))
    } catch {
      throw .invalid("the root key must be a P-256 public key in PEM.")
    }
  }

  init(_ publicKey: P256.Signing.PublicKey) {
    self.publicKey = publicKey
    fingerprint = Data(SHA256.hash(data: publicKey.derRepresentation))
  }

  /// The key in PEM.
  public var publicKeyPEM: String { publicKey.pemRepresentation }
}
