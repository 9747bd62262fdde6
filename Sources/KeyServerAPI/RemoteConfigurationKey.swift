import Crypto
import Foundation

/// A public key the app carries: remote configurations are taken from its owner only.
///
/// It is the key that signs the key files, by the same id and version.
public struct RemoteConfigurationKey: Sendable {
  /// Which key: the authority's mobile country code by custom, `260`.
  public let keyID: String
  /// Which version of it, `v1`.
  public let keyVersion: String
  let publicKey: P256.Signing.PublicKey

  /// A P-256 public key.
  ///
  /// - Throws: `RemoteConfigurationError.invalid` where the text is no such key.
  public init(keyID: String, keyVersion: String, publicKeyPEM: String)
    throws(RemoteConfigurationError)
  {
    guard let publicKey = try? P256.Signing.PublicKey(pemRepresentation: publicKeyPEM) else {
      throw .invalid("publicKeyPEM must be a P-256 public key.")
    }
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.publicKey = publicKey
  }
}
