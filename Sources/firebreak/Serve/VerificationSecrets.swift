import Foundation
import UploadToken
import World

/// What the verification server must keep to itself.
struct VerificationSecrets: Codable {
  /// Under which codes are kept, 32 bytes.
  let codeHashKey: Data
  /// What the seed contract's `api-token` may be.
  var apiTokens: [String]
  /// What signs tokens and certificates.
  var signingKeys: [SecretSigningKey]

  /// New secrets.
  init(from randomness: any Randomness) {
    codeHashKey = Data(randomness.bytes(32))
    apiTokens = [Data(randomness.bytes(24)).base64EncodedString()]
    signingKeys = [SecretSigningKey(keyID: "t1", keyVersion: nil, validFrom: nil)]
  }
}

extension VerificationSecrets {
  /// The keys as the verification server takes them.
  ///
  /// - Throws: where one of them is no key, or two have one id.
  var keysThatSign: SigningKeys {
    get throws { try SigningKeys(signingKeys.map { try $0.tokenKey }) }
  }
}

extension VerificationSecrets: CustomStringConvertible, CustomReflectable {
  var description: String { "VerificationSecrets" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
