import Foundation

/// That a verification token was exchanged, and for which keys. The token itself is not kept.
struct TokenExchange: Hashable, Sendable {
  /// The mark of the token's name.
  var tokenMark: Data
  /// The mark of the HMAC over the keys that it was exchanged for.
  var binding: Data
  /// When the token expires; afterwards nobody can ask again.
  var expiresAt: Date
}
