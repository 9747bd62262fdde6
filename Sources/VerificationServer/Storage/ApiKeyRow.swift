import Foundation
import GRDB

/// An API key as SQLite keeps it.
struct ApiKeyRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "apiKey"

  var id: String
  var kind: String
  var name: String
  var mark: Data
  var createdAt: Int64
  var revokedAt: Int64?

  init(_ key: ApiKeyRecord) {
    id = key.id.text
    kind = key.kind.rawValue
    name = key.name
    mark = key.mark
    createdAt = key.createdAt.unixSecond
    revokedAt = key.revokedAt?.unixSecond
  }

  /// What the row says; nil where its kind is not one of ours.
  var record: ApiKeyRecord? {
    ApiKeyKind(rawValue: kind).map {
      ApiKeyRecord(
        id: ApiKeyID(text: id), kind: $0, name: name, mark: mark,
        createdAt: Date(unixSecond: createdAt), revokedAt: revokedAt.map { Date(unixSecond: $0) })
    }
  }
}
