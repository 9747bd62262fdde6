import Foundation

/// The name under which a code is kept: HMAC-SHA256 of its characters under a key of the server.
///
/// A bare hash of 31 bits could be turned back in a second; without the key this one cannot.
struct CodeHash: Hashable, Sendable {
  let bytes: Data
}

extension CodeHash: CustomStringConvertible, CustomReflectable {
  var description: String { "CodeHash" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
