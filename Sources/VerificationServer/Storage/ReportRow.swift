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

  init(phoneMark: Data, at now: Date) {
    self.phoneMark = phoneMark
    freeAt = now.addingTimeInterval(VerificationLimit.reportUnclaimedSeconds).unixSecond
    freeAtWhenClaimed = now.addingTimeInterval(VerificationLimit.reportAgainSeconds).unixSecond
  }
}
