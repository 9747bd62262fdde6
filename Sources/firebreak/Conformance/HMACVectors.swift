import Foundation
import KeyServerAPI

/// Vectors of the HMAC over uploaded keys.
///
/// An absent risk and a risk of 0 give different texts for the same keys. If all risks are 0 or absent, both texts are
/// accepted.
struct HMACVectors: Decodable {
  let vectors: [Vector]

  /// An upload with the authenticated text and the HMAC.
  struct Vector: Decodable {
    let secretBase64: Data
    let keys: [UploadKey]
    let cleartext: String?
    let hmacSha256Base64: String

    /// The expected text, or `text` if the vector has none, and HMAC.
    fileprivate func expected(_ text: String) -> String {
      "\(cleartext ?? text) => \(hmacSha256Base64)"
    }

    /// Our text and HMAC of the keys.
    fileprivate func actual(_ keys: [UploadKey]) -> (text: String, line: String) {
      let text = KeyHMAC.text(over: keys)
      let code = KeyHMAC.authenticationCode(over: keys, secret: secretBase64)
      return (text, "\(text) => \(code.base64EncodedString())")
    }

    /// The equivalent forms of the keys: with all risks and without, if none is above 0.
    fileprivate var forms: [[UploadKey]] {
      guard keys.allSatisfy({ ($0.transmissionRisk ?? 0) == 0 }) else { return [keys] }
      return [keys, keys.map { $0.withRisk(0) }, keys.map { $0.withRisk(nil) }]
    }
  }

  func outcomes() -> [CaseOutcome] {
    vectors.enumerated().map { index, vector in
      let actual = vector.forms.map(vector.actual)
      let match = actual.first { vector.expected($0.text) == $0.line } ?? actual[0]
      return CaseOutcome(
        name: "vectors[\(index)]", expected: vector.expected(match.text), got: match.line)
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
