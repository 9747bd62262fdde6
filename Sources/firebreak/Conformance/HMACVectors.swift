import Foundation
import KeyServerAPI

/// Vectors of the HMAC over uploaded keys.
///
/// An absent risk and one of 0 are different texts; where all are 0 or absent, the text with zeros and the
/// one without risks name the same keys, and either is accepted.
struct HMACVectors: Decodable {
  let vectors: [Vector]

  /// One upload with the text that is authenticated and the code.
  struct Vector: Decodable {
    let secretBase64: Data
    let keys: [UploadKey]
    let cleartext: String?
    let hmacSha256Base64: String

    /// What the vector says: its text, where it gives one, and its code.
    fileprivate func expected(_ text: String) -> String {
      "\(cleartext ?? text) => \(hmacSha256Base64)"
    }

    /// What we say of the keys in one way of writing them.
    fileprivate func said(of keys: [UploadKey]) -> (text: String, line: String) {
      let text = KeyHMAC.text(over: keys)
      let code = KeyHMAC.authenticationCode(over: keys, secret: secretBase64)
      return (text, "\(text) => \(code.base64EncodedString())")
    }

    /// The keys as they stand, and where no risk is more than 0 also with all of them and with none.
    fileprivate var writings: [[UploadKey]] {
      guard keys.allSatisfy({ ($0.transmissionRisk ?? 0) == 0 }) else { return [keys] }
      return [keys, keys.map { $0.withRisk(0) }, keys.map { $0.withRisk(nil) }]
    }
  }

  /// One case a vector: the text, where it is given, and the code.
  func outcomes() -> [CaseOutcome] {
    vectors.enumerated().map { index, vector in
      let said = vector.writings.map(vector.said)
      let found = said.first { vector.expected($0.text) == $0.line } ?? said[0]
      return CaseOutcome(
        name: "vectors[\(index)]", expected: vector.expected(found.text), got: found.line)
    }
  }
}

extension UploadKey {
  fileprivate func withRisk(_ risk: Int?) -> UploadKey {
    var key = self
    key.transmissionRisk = risk
    return key
  }
}
