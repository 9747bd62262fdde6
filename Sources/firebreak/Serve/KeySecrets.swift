import Foundation

/// What the key server must keep to itself.
struct KeySecrets: Codable {
  /// What signs key files.
  var signingKeys: [SecretSigningKey]

  /// New secrets: a key of the id that phones of `region` know, its first version.
  init(keyID: String) {
    signingKeys = [SecretSigningKey(keyID: keyID, keyVersion: "v1", validFrom: nil)]
  }
}

extension KeySecrets: CustomStringConvertible, CustomReflectable {
  var description: String { "KeySecrets" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
