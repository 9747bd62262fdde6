import Foundation
import World

/// What the verification server must keep to itself.
struct VerificationSecrets: Codable {
  /// Under which codes are kept, 32 bytes.
  let codeHashKey: Data
  /// What the seed contract's `api-token` may be.
  var apiTokens: [String]
  /// What signs tokens and certificates.
  var signingKeys: [StoredKey]

  /// New secrets.
  init(from randomness: any Randomness) {
    codeHashKey = Data(randomness.bytes(32))
    apiTokens = [Data(randomness.bytes(24)).base64EncodedString()]
    signingKeys = [StoredKey(keyID: "t1", keyVersion: nil, validFrom: nil)]
  }
}

extension VerificationSecrets: CustomStringConvertible, CustomReflectable {
  var description: String { "VerificationSecrets" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
