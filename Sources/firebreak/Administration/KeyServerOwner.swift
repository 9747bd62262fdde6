import Foundation

/// The key server, whose keys sign key files.
enum KeyServerOwner: ServerOwner {
  static let commandName = "key-server"
  static let server = ServerName.keys
  /// As long as key files are kept: a phone that is off so long still knows the key of each.
  static let overlapSeconds = 14 * 86_400

  static func database(of folder: ServerFolder) -> URL { folder.keyDatabase }

  static func secretsFile(of folder: ServerFolder) -> OwnersFile { folder.keySecrets }

  static func signingKeys(of folder: ServerFolder) throws -> [SecretSigningKey]? {
    try folder.keySecrets.read(KeySecrets.self)?.signingKeys
  }

  static func signingKeysOrFirst(of setup: ServerSetup) throws -> [SecretSigningKey] {
    let keyID = try setup.keySettings().keyID
    return try setup.folder.keySecrets.readOrBegin { KeySecrets(keyID: keyID) }.signingKeys
  }

  static func keep(_ keys: [SecretSigningKey], of setup: ServerSetup) throws {
    let keyID = try setup.keySettings().keyID
    var secrets = try setup.folder.keySecrets.readOrBegin { KeySecrets(keyID: keyID) }
    secrets.signingKeys = keys
    try setup.folder.keySecrets.replace(secrets)
  }

  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey {
    SecretSigningKey(
      keyID: keys.last?.keyID ?? "", keyVersion: "v\(keys.count + 1)", validFrom: from)
  }

  static func settings(of setup: ServerSetup) throws -> any Encodable {
    try setup.checkKeys()
    return try setup.keySettings()
  }
}
