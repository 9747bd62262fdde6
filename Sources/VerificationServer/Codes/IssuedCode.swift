import Foundation

/// A code that is to be kept: by then only its hash is left of it.
struct IssuedCode: Hashable, Sendable {
  var hash: CodeHash
  var finding: Finding
  /// The last moment at which it is good.
  var expiresAt: Date
}
