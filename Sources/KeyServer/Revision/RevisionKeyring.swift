import Crypto
import Foundation

/// The keys that open revision tokens, and the one that seals new ones.
struct RevisionKeyring: Sendable {
  let present: (id: String, key: SymmetricKey)
  let keys: [String: SymmetricKey]
  /// The server's constant that every token is bound to.
  let context: Data
}

extension RevisionKeyring: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisionKeyring(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
