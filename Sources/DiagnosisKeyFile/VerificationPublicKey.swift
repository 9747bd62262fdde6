import Crypto
import Foundation

/// An authority's public key, as a phone is configured with it.
public struct VerificationPublicKey: Sendable {
  /// The id a signature names it by, usually the mobile country code.
  public let keyID: String
  /// The version a signature names it by, such as `v1`.
  public let keyVersion: String

  private let publicKey: P256.Signing.PublicKey

  /// Reads a P-256 public key in PEM; throws `KeyFileError.notAPublicKey` where it is none.
  public init(keyID: String, keyVersion: String, publicKeyPEM: String) throws(KeyFileError) {
    guard let publicKey = try? P256.Signing.PublicKey(pemRepresentation: publicKeyPEM) else {
      throw .notAPublicKey
    }
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.publicKey = publicKey
  }

  /// Whether `signature` (DER) is this key's over the bytes with this digest.
  func isValid(_ signature: some DataProtocol, for digest: SHA256Digest) -> Bool {
    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
      return false
    }
    return publicKey.isValidSignature(signature, for: digest)
  }
}
