import Foundation
import GRDB

/// One spelling of an issued code as SQLite keeps it: the PIN, the short code, or the one in the link.
struct SpellingRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "spelling"

  var hash: Data
  var issue: Int64
  var expiresAt: Int64

  /// The row of that hash.
  static func of(_ hash: CodeHash, in database: Database) throws -> SpellingRow? {
    try fetchOne(database, key: hash.bytes)
  }

  /// The spellings that are live at `now`.
  static func live(at now: Date) -> QueryInterfaceRequest<SpellingRow> {
    filter(Column("expiresAt") >= now.unixSecond)
  }
}
