import Crypto
import Foundation

/// A key that signs tokens and certificates, and the time in which it does.
public struct SigningKey: Sendable {
  /// Names the key in the header `kid` of what it signed.
  public let keyID: String
  /// The first moment at which it signs; it is published before, so that verifiers know it in time.
  public let signsFrom: Date
  /// The first moment at which it is no longer published: when all that it signed has expired.
  public let publishedUntil: Date
  let privateKey: P256.Signing.PrivateKey

  /// The key of `privateKeyPEM` (P-256, SEC1 or PKCS#8).
  ///
  /// - Throws: where the text is no such key.
  public init(
    keyID: String, privateKeyPEM: String, signsFrom: Date = .distantPast,
    publishedUntil: Date = .distantFuture
  ) throws {
    self.keyID = keyID
    self.signsFrom = signsFrom
    self.publishedUntil = publishedUntil
    privateKey = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
  }

  /// The public half, for whoever verifies: PEM, SubjectPublicKeyInfo.
  public var publicKeyPEM: String { privateKey.publicKey.pemRepresentation }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
  public var description: String { "SigningKey(\(keyID))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
