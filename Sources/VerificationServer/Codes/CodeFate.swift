import Foundation

/// What became of a code that was issued.
struct CodeFate: Hashable, Sendable {
  var isClaimed: Bool
  var expiresAt: Date
  var longExpiresAt: Date
  /// The API key it was issued under.
  var issuer: ApiKeyID?
}
