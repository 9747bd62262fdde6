import Crypto
import Foundation
import Secrets

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
    guard let publicKey = try? P256.Signing.PublicKey(pemRepresentation: publicKeyPEM) else {
      throw .notAPublicKey
    }
    self.keyID = keyID
    self.keyVersion = keyVersion
    self.publicKey = publicKey
  }

  /// Returns `true` if `signature` (DER) is by this key over the bytes with this digest.
  func isValid(_ signature: some DataProtocol, for digest: SHA256Digest) -> Bool {
    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
      return false
    }
    return publicKey.isValidSignature(signature, for: digest)
  }
}

/// An authority's signing key with the id and version that phones know.
public struct KeyFileSigner: Sendable {
  /// The id and version for the file.
  public let info: SignatureInfo

  private let privateKey: P256.Signing.PrivateKey

  /// Reads a P-256 private key in PEM, SEC1 or PKCS#8.
  ///
  /// - Throws: `KeyFileError.notAPrivateKey`, or `.unusableName` for an empty or too long id or version.
  public init(privateKeyPEM: String, keyID: String, keyVersion: String) throws(KeyFileError) {
    guard let privateKey = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM) else {
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
