import Foundation

/// How a code was used up: by whom, and for which token.
struct Redemption: Hashable, Sendable {
  /// The mark of the asker: `CodeKeys.binding`.
  var binding: Data
  /// The token's text, sealed under a key that only the code opens.
  var sealedToken: SealedToken
  /// The mark of the token's name, where it is one that is exchanged here.
  var tokenMark: Data?
}
