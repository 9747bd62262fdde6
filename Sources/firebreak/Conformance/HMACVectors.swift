import Foundation
import KeyServerAPI

/// Vectors of the HMAC over uploaded keys.
struct HMACVectors: Decodable {
  let vectors: [Vector]

  /// One upload with the text that is authenticated and the code.
  struct Vector: Decodable {
    let secretBase64: Data
    let keys: [UploadKey]
    let cleartext: String?
    let hmacSha256Base64: String
  }

  /// One case a vector: the text, where it is given, and the code.
  func outcomes() -> [CaseOutcome] {
    vectors.enumerated().map { index, vector in
      let text = KeyHMAC.text(over: vector.keys)
      let code = KeyHMAC.authenticationCode(over: vector.keys, secret: vector.secretBase64)
        .base64EncodedString()
      return CaseOutcome(
        name: "vectors[\(index)]",
        expected: "\(vector.cleartext ?? text) => \(vector.hmacSha256Base64)",
        got: "\(text) => \(code)")
    }
  }
}
