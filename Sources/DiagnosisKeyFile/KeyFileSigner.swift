import Crypto
import Foundation

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

extension KeyFileSigner: CustomStringConvertible, CustomReflectable {
  public var description: String { "KeyFileSigner" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
