import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import Secrets
import ServerStorage

/// A row of `diagnosis_key`.
struct StoredKey {
  /// The 16 bytes of the key.
  var words: (UInt64, UInt64)
  var rollingStart: Int64
  var rollingPeriod: Int64
  var transmissionRisk: Int64
  var reportType: Int64?
  var daysSinceOnset: Int64?
  /// Comma-separated, sorted.
  var regions: String
  var travels: Bool
  /// In Unix seconds.
  var releasedAt: Int64
  /// True for padding, the keys of made-up users.
  var isPadding: Bool

  init(_ key: PublishableKey, isPadding: Bool = false) {
    words = key.key.key.secretWords
    rollingStart = Int64(key.key.key.rollingStart.rawValue)
    rollingPeriod = Int64(key.key.key.rollingPeriod)
    transmissionRisk = Int64(key.key.transmissionRiskLevel)
    reportType = key.key.reportType.map { Int64($0.rawValue) }
    daysSinceOnset = key.key.daysSinceOnsetOfSymptoms.map(Int64.init)
    // Nearly every key has one region, and this runs 14 times per upload.
    regions = key.regions.count == 1 ? key.regions[0] : key.regions.joined(separator: ",")
    travels = key.travels
    releasedAt = Int64(key.releasedAt.timeIntervalSince1970)
    self.isPadding = isPadding
  }

  /// The 16 bytes of the key.
  var bytes: Data { withUnsafeBytes(of: words) { Data($0) } }

  /// The checksum of the row if it is released at `releasedAt`.
  func checksum(releasedAt: Int64) -> Int64 {
    var checksum = RowChecksum()
    checksum.add(words.0)
    checksum.add(words.1)
    checksum.add(rollingStart)
    checksum.add(rollingPeriod)
    checksum.add(transmissionRisk)
    checksum.add(reportType)
    checksum.add(daysSinceOnset)
    var regions = regions
    regions.withUTF8 { checksum.add(UnsafeRawBufferPointer($0)) }
    checksum.add(Int64(travels ? 1 : 0))
    checksum.add(releasedAt)
    checksum.add(Int64(isPadding ? 1 : 0))
    return checksum.value
  }

  /// The checksum of the columns of a revision that has the values of this key.
  var revisionChecksum: Int64 {
    var checksum = RowChecksum()
    checksum.add(words.0)
    checksum.add(words.1)
    checksum.add(reportType)
    checksum.add(Optional(transmissionRisk))
    checksum.add(daysSinceOnset)
    checksum.add(releasedAt)
    return checksum.value
  }
}

extension StoredKey: Redacted {}

/// A prepared statement that inserts rows of `diagnosis_key`.
///
/// Values are bound through the C API: creating ten GRDB arguments for a key took longer than SQLite takes for the
/// row. GRDB's observers are not notified of these changes; there are none.
struct KeyInsertion {
  private let cached: Statement
  private let db: Database
  private let releasedFrom: Int64

  /// - Parameter moment: The earliest release time of the keys; all periods before it are closed.
  init(in db: Database, releasedFrom moment: Date = Date(timeIntervalSince1970: 0)) throws {
    self.db = db
    releasedFrom = moment.wholeSeconds
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
  /// - Throws: `DatabaseError`; `CancellationError` if the task is cancelled.
  func insert(_ keys: [StoredKey]) throws {
    try insert(keys) { _ in true }
  }

  /// Inserts all of `keys`, or none if one of them is in the table.
  ///
  /// - Returns: `false` if none was inserted.
  /// - Throws: `DatabaseError`; `CancellationError` if the task is cancelled.
  func insertIfAllAreNew(_ keys: [StoredKey]) throws -> Bool {
    var insertedCount = 0
    try insert(keys) { isNew in
      insertedCount += isNew ? 1 : 0
      return isNew
    }
    guard insertedCount < keys.count else { return true }
    let deletion = try db.cachedStatement(sql: "DELETE FROM diagnosis_key WHERE key_data = ?")
    for key in keys.prefix(insertedCount) { try deletion.execute(arguments: [key.bytes]) }
    return false
  }

  /// Inserts `keys` one by one until `body` returns `false`.
  private func insert(_ keys: [StoredKey], while body: (_ isNew: Bool) -> Bool) throws {
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

  private func bind(_ key: StoredKey, by binding: RawBinding) -> Bool {
    let releasedAt = max(key.releasedAt, releasedFrom)
    return withUnsafeBytes(of: key.words) { binding.binds($0, at: 1) }
      && binding.binds(key.rollingStart, at: 2) && binding.binds(key.rollingPeriod, at: 3)
      && binding.binds(key.transmissionRisk, at: 4) && binding.binds(key.reportType, at: 5)
      && binding.binds(key.daysSinceOnset, at: 6) && binding.binds(key.regions, at: 7)
      && binding.binds(key.travels ? 1 : 0, at: 8)
      && binding.binds(releasedAt, at: 9)
      && binding.binds(key.isPadding ? 1 : 0, at: 10)
      && binding.binds(key.checksum(releasedAt: releasedAt), at: 11)
  }
}
