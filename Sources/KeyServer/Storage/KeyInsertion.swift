// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import ServerStorage
import World

/// A prepared statement that inserts rows of `diagnosis_key`.
///
/// Values are bound through the C API: creating ten GRDB arguments for a key took longer than SQLite takes for the
/// row. GRDB's observers are not notified of these changes; there are none.
struct KeyInsertion {
  private let cached: Statement
  private let db: Database
  private let releasedFrom: Int64

  /// - Parameter moment: The earliest release time of the keys; all periods before it are closed.
  init(in db: Database, releasedFrom moment: Date = Date(unixSecond: 0)) throws {
    self.db = db
    releasedFrom = moment.unixSecond
    cached = try db.cachedStatement(
      sql: """
        INSERT INTO diagnosis_key (key_data, rolling_start, rolling_period, transmission_risk, report_type,
          days_since_onset, regions, travels, released_at, is_padding, checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """)
  }

  /// Inserts those of `keys` whose bytes are not in the table.
  ///
  /// - Returns: The number of inserted keys.
  /// - Throws: `DatabaseError`; `CancellationError` if the task is cancelled.
  @discardableResult
  func insert(_ keys: [PublishableKey]) throws -> Int {
    var count = 0
    try insert(keys) { isNew in
      count += isNew ? 1 : 0
      return true
    }
    return count
  }

  /// Inserts all of `keys`, or none if one of them is in the table.
  ///
  /// - Returns: `false` if none was inserted.
  /// - Throws: `DatabaseError`; `CancellationError` if the task is cancelled.
  func insertIfAllAreNew(_ keys: [PublishableKey]) throws -> Bool {
    var insertedCount = 0
    try insert(keys) { isNew in
      insertedCount += isNew ? 1 : 0
      return isNew
    }
    guard insertedCount < keys.count else { return true }
    let deletion = try db.cachedStatement(sql: "DELETE FROM diagnosis_key WHERE key_data = ?")
    for key in keys.prefix(insertedCount) {
      try deletion.execute(arguments: [Data(key.bytes)])
    }
    return false
  }

  /// Inserts `keys` one by one until `body` returns `false`.
  private func insert(_ keys: [PublishableKey], while body: (_ isNew: Bool) -> Bool) throws {
    try withExtendedLifetime(cached) {
      let statement = cached.sqliteStatement
      defer {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
      for key in keys {
        // `bind` skips nil values, so the previous key's bindings must be cleared.
        sqlite3_clear_bindings(statement)
        guard bind(key, by: RawBinding(statement: statement)),
          sqlite3_step(statement) == SQLITE_DONE
        else { try db.throwLatestError() }
        sqlite3_reset(statement)
        guard body(db.changesCount > 0) else { return }
      }
    }
  }

  private func bind(_ key: PublishableKey, by binding: RawBinding) -> Bool {
    let (diagnosisKey, exposureKey) = (key.key, key.key.key)
    let releasedAt = max(key.releasedAt.unixSecond, releasedFrom)
    return withUnsafeBytes(of: exposureKey.secretWords) { binding.binds($0, at: 1) }
      && binding.binds(Int64(exposureKey.rollingStart.rawValue), at: 2)
      && binding.binds(Int64(exposureKey.rollingPeriod), at: 3)
      && binding.binds(Int64(diagnosisKey.transmissionRiskLevel), at: 4)
      && binding.binds(diagnosisKey.reportType.map { Int64($0.rawValue) }, at: 5)
      && binding.binds(diagnosisKey.daysSinceOnsetOfSymptoms.map(Int64.init), at: 6)
      && binding.binds(key.regionsText, at: 7) && binding.binds(key.travels ? 1 : 0, at: 8)
      && binding.binds(releasedAt, at: 9) && binding.binds(key.isPadding ? 1 : 0, at: 10)
      && binding.binds(key.checksum(releasedAt: releasedAt), at: 11)
  }
}

extension PublishableKey {
  /// The checksum of the row of the key if it is released at `releasedAt`, in Unix seconds.
  func checksum(releasedAt: Int64) -> Int64 {
    var checksum = RowChecksum()
    let words = key.key.secretWords
    checksum.add(words.0)
    checksum.add(words.1)
    checksum.add(Int64(key.key.rollingStart.rawValue))
    checksum.add(Int64(key.key.rollingPeriod))
    checksum.add(Int64(key.transmissionRiskLevel))
    checksum.add(key.reportType.map { Int64($0.rawValue) })
    checksum.add(key.daysSinceOnsetOfSymptoms.map(Int64.init))
    var regions = regionsText
    regions.withUTF8 { checksum.add(UnsafeRawBufferPointer($0)) }
    checksum.add(Int64(travels ? 1 : 0))
    checksum.add(releasedAt)
    checksum.add(Int64(isPadding ? 1 : 0))
    return checksum.value
  }

  /// The checksum of the columns of a revision to the values of this key.
  var revisionChecksum: Int64 {
    var checksum = RowChecksum()
    let words = key.key.secretWords
    checksum.add(words.0)
    checksum.add(words.1)
    checksum.add(key.reportType.map { Int64($0.rawValue) })
    checksum.add(Optional(Int64(key.transmissionRiskLevel)))
    checksum.add(key.daysSinceOnsetOfSymptoms.map(Int64.init))
    checksum.add(releasedAt.unixSecond)
    return checksum.value
  }
}
