// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

/// A P-256 private key that signs, in memory or on a token that never reveals it.
package protocol P256Signer: Sendable {
  /// The public key, which is known without the token.
  var publicKey: P256.Signing.PublicKey { get }

  /// True if the other calls ask another device, and block the thread until it responds, which may be never.
  var mayBlock: Bool { get }

  /// Signs the bytes with this digest.
  ///
  /// - Throws: An error whose description says why the key cannot sign, and what to do.
  func signature(for digest: SHA256Digest) throws -> P256.Signing.ECDSASignature

  /// Throws the error that `signature(for:)` would throw now, as far as it is known without a signature.
  func checkAvailability() throws
}

extension P256Signer {
  /// Lets the key sign a text of no meaning, which also notices a key that is found and cannot be used.
  ///
  /// - Throws: The error of `signature(for:)`.
  package func signTest() throws {
    _ = try signature(for: SHA256.hash(data: Data("Firebreak signing test 1\n".utf8)))
  }
}

extension P256.Signing.PrivateKey: P256Signer {
  /// False: the key is in memory.
  package var mayBlock: Bool { false }

  /// Does nothing: a key in memory can sign.
  package func checkAvailability() {}
}
