import Foundation

/// An API key as a list of them shows it: never the key itself.
package struct ApiKeyEntry: Sendable, Hashable {
  /// Sixteen lower-case hex digits, the beginning of the key.
  package let id: String
  /// What its holder may do.
  package let kind: ApiKeyKind
  /// Who holds it.
  package let name: String
  /// When it was made.
  package let createdAt: Date
  /// When it was revoked, where it was.
  package let revokedAt: Date?

  init(_ record: ApiKeyRecord) {
    id = record.id.text
    kind = record.kind
    name = record.name
    createdAt = record.createdAt
    revokedAt = record.revokedAt
  }
}
