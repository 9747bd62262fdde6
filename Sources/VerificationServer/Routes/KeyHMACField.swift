import Foundation
import QuietHTTP

/// The field `ekeyhmac` of a token request: absent, or base64 of exactly 32 bytes.
struct KeyHMACField: Sendable {
  /// The HMAC over the keys; nil where none was sent.
  let bytes: Data?

  /// - Throws: `.malformed` where something else was sent; the code has not been touched by then.
  init(_ text: String?) throws(QuietRefusal) {
    guard let text else {
      bytes = nil
      return
    }
    guard let bytes = Data(base64Encoded: text), bytes.count == VerificationLimit.keyHMACBytes
    else { throw .malformed }
    self.bytes = bytes
  }
}
