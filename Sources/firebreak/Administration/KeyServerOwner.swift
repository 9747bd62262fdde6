import Foundation

/// The key server, whose keys sign key files.
enum KeyServerOwner: ServerOwner {
  static let commandName = "key-server"
  /// As long as key files are kept: a phone that is off so long still knows the key of each.
  static let overlapSeconds = 14 * 86_400

  static func database(of folder: ServerFolder) -> URL { folder.keyDatabase }

  static func signingKeys(
    of folder: ServerFolder, _ options: ServerOptions
  ) throws -> [StoredKey] {
    try folder.keySecrets.readOrBegin { KeySecrets(keyID: options.keyID) }.signingKeys
  }

  static func keep(
    _ keys: [StoredKey], in folder: ServerFolder, _ options: ServerOptions
  ) throws {
    var secrets = try folder.keySecrets.readOrBegin { KeySecrets(keyID: options.keyID) }
    secrets.signingKeys = keys
    try folder.keySecrets.replace(secrets)
  }

  static func newKey(
    after keys: [StoredKey], from: Date?, _ options: ServerOptions
  ) -> StoredKey {
    StoredKey(
      keyID: keys.last?.keyID ?? options.keyID, keyVersion: "v\(keys.count + 1)", validFrom: from)
  }
}
