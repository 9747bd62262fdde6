// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// A P-256 key that signs tokens and certificates, with its validity. It is in memory, or on a token with the PKCS#11
/// interface.
public struct SigningKey: Sendable {
  /// The `kid` in the header of signed tokens.
  public let keyID: String
  /// The first moment at which it signs. It is published before, so that verifiers know it in time.
  public let signsFrom: Date
  /// The first moment at which it is no longer published: all its tokens have expired.
  public let publishedUntil: Date
  let signer: any P256Signer

  /// The key of `privateKeyPEM` (P-256, SEC1 or PKCS#8).
  ///
  /// - Throws: if the text is not such a key.
  public init(
    keyID: String, privateKeyPEM: String, signsFrom: Date = .distantPast,
    publishedUntil: Date = .distantFuture
  ) throws {
    self.init(
      keyID: keyID, signer: try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM),
      signsFrom: signsFrom, publishedUntil: publishedUntil)
  }

  /// A key in memory or on a token.
  package init(
    keyID: String, signer: any P256Signer, signsFrom: Date = .distantPast,
    publishedUntil: Date = .distantFuture
  ) {
    self.keyID = keyID
    self.signsFrom = signsFrom
    self.publishedUntil = publishedUntil
    self.signer = signer
  }

  /// True if a signature may block the thread, because the key is on a token.
  package var mayBlock: Bool { signer.mayBlock }

  /// Checks that the key can sign. One on a token blocks the thread.
  ///
  /// - Parameter bySigning: True to sign a text of no meaning, which also notices a key that is found and cannot be
  ///   used.
  /// - Throws: An error whose description says why the key cannot sign, and what to do.
  package func check(bySigning: Bool) throws {
    if bySigning {
      try signer.signTest()
    } else {
      try signer.checkAvailability()
    }
  }
}

extension SigningKey: Redacted {
  public var description: String { "SigningKey(\(keyID))" }
}
