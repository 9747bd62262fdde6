// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// A P-256 key that signs tokens and certificates, with its validity.
public struct SigningKey: Sendable {
  /// The `kid` in the header of signed tokens.
  public let keyID: String
  /// The first moment at which it signs. It is published before, so that verifiers know it in time.
  public let signsFrom: Date
  /// The first moment at which it is no longer published: all its tokens have expired.
  public let publishedUntil: Date
  let privateKey: P256.Signing.PrivateKey

  /// The key of `privateKeyPEM` (P-256, SEC1 or PKCS#8).
  ///
  /// - Throws: if the text is not such a key.
  public init(
    keyID: String, privateKeyPEM: String, signsFrom: Date = .distantPast,
    publishedUntil: Date = .distantFuture
  ) throws {
    self.keyID = keyID
    self.signsFrom = signsFrom
    self.publishedUntil = publishedUntil
    privateKey = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
  }
}

extension SigningKey: Redacted {
  public var description: String { "SigningKey(\(keyID))" }
}
