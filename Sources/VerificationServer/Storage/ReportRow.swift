import Foundation
import GRDB

/// A phone that reported a test of its own, as SQLite keeps it: a mark, never the number.
struct ReportRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "report"

  var phoneMark: Data
  /// The second from which it may report again.
  var freeAt: Int64
  /// The second from which it may where its code is used.
  var freeAtWhenClaimed: Int64

  init(_ report: PhoneReport) {
    phoneMark = report.phoneMark
    freeAt = report.freeAt.unixSecond
    freeAtWhenClaimed = report.freeAtWhenClaimed.unixSecond
  }

  /// What the row says.
  var report: PhoneReport {
    PhoneReport(
      phoneMark: phoneMark, freeAt: Date(unixSecond: freeAt),
      freeAtWhenClaimed: Date(unixSecond: freeAtWhenClaimed))
  }

  /// The row of that phone.
  static func of(_ phoneMark: Data, in database: Database) throws -> ReportRow? {
    try fetchOne(database, key: phoneMark)
  }
}
