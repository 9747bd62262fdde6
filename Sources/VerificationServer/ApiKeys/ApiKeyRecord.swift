import Foundation

/// An API key as it is kept: a mark instead of the secret.
struct ApiKeyRecord: Hashable, Sendable {
  var id: ApiKeyID
  var kind: ApiKeyKind
  /// Who holds it, as an official named them.
  var name: String
  /// HMAC of the whole key under the server's secret.
  var mark: Data
  var createdAt: Date
  var revokedAt: Date?
}

extension ApiKeyRecord: CustomStringConvertible, CustomReflectable {
  var description: String { "ApiKeyRecord(\(id.text))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
