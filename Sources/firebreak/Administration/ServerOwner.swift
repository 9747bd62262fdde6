import Foundation

/// What the administration of either server needs to know of it.
protocol ServerOwner {
  /// The server's command, such as `key-server`.
  static var commandName: String { get }
  /// Which server it is.
  static var server: ServerName { get }
  /// How long the older keys go on beside a new one, in seconds, unless said otherwise.
  static var overlapSeconds: Int { get }
  /// Its database.
  static func database(of folder: ServerFolder) -> URL
  /// Its secrets, the signing keys among them.
  static func secretsFile(of folder: ServerFolder) -> OwnersFile
  /// Its signing keys; nil where there are none yet.
  static func signingKeys(of folder: ServerFolder) throws -> [SecretSigningKey]?
  /// Its signing keys, made where there are none yet.
  static func signingKeysOrFirst(of setup: ServerSetup) throws -> [SecretSigningKey]
  /// Keeps other signing keys.
  static func keep(_ keys: [SecretSigningKey], of setup: ServerSetup) throws
  /// The next key after `keys`.
  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey
  /// The settings that hold, once they make sense.
  static func settings(of setup: ServerSetup) throws -> any Encodable
}

extension ServerOwner {
  /// Changes its signing keys, made where there are none yet, and keeps them. Who changes them meanwhile waits.
  ///
  /// - Returns: The keys as they are then.
  static func changingKeys(
    of setup: ServerSetup, _ change: (inout [SecretSigningKey]) -> Void
  ) throws -> [SecretSigningKey] {
    try secretsFile(of: setup.folder).changing {
      var keys = try signingKeysOrFirst(of: setup)
      change(&keys)
      try keep(keys, of: setup)
      return keys
    }
  }
}
