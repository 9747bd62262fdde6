import Crypto
import Foundation
import Secrets

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

/// An authority's signing key with the name phones know it by.
public struct KeyFileSigner: Sendable {
  /// The id and version that go into the file.
  public let info: SignatureInfo

  private let privateKey: P256.Signing.PrivateKey

  /// Reads a P-256 private key in PEM, SEC1 or PKCS#8.
  ///
  /// Throws `KeyFileError.notAPrivateKey` or, for an empty or overlong id or version, `.unusableName`.
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

  /// The public half, in PEM, for those who verify.
  public var publicKeyPEM: String { privateKey.publicKey.pemRepresentation }

  /// The signature over the bytes with this digest, in DER.
  func signature(for digest: SHA256Digest) throws -> Data {
    try privateKey.signature(for: digest).derRepresentation
  }
}

extension KeyFileSigner: Redacted {}
