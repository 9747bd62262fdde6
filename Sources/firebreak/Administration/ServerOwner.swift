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
