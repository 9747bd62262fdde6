// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TextEncodings

/// The SHA-256 of a public key, by which two people compare it with the one that its authority names.
enum PublicKeyFingerprint {
  /// The fingerprint of a P-256 key, over its SubjectPublicKeyInfo in DER; nil for another text.
  static func text(ofPEM pem: String) -> String? {
    // The caller reports text that is not a key.
    guard let key = try? P256.Signing.PublicKey(pemRepresentation: pem) else { return nil }
    return SHA256.hash(data: key.derRepresentation).hexadecimal
  }
}
