import Foundation

/// What the administration of either server needs to know of it.
protocol ServerOwner {
  /// The server's command, such as `key-server`.
  static var commandName: String { get }
  /// How long the older keys go on beside a new one, in seconds, unless said otherwise.
  static var overlapSeconds: Int { get }
  /// Its database.
  static func database(of folder: ServerFolder) -> URL
  /// Its signing keys, made where there are none yet.
  static func signingKeys(of folder: ServerFolder, _ options: ServerOptions) throws -> [StoredKey]
  /// Keeps other signing keys.
  static func keep(_ keys: [StoredKey], in folder: ServerFolder, _ options: ServerOptions) throws
  /// The next key after `keys`.
  static func newKey(after keys: [StoredKey], from: Date?, _ options: ServerOptions) -> StoredKey
}
