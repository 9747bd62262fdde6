import Foundation

/// A public key of an authority, and when it is believed.
struct AuthorityKey: Hashable, Sendable {
  let keyID: String
  let publicKeyPEM: String
  let goodFrom: Date
  /// Nil where there is no end yet.
  let goodUntil: Date?
  /// Whether it came from the authority's own page.
  let isPulled: Bool
}
