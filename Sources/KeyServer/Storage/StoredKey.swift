// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import Secrets
import ServerStorage
import World

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
    releasedAt = key.releasedAt.unixSecond
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

/// A row of `diagnosis_key` during an export; valid until the statement steps to the next row.
///
/// Columns are read through the C API. GRDB's `Row` looks up the type of each value, which is unnecessary
/// here because the table is STRICT; only nullable columns are checked for NULL.
struct StoredKeyRow {
  private let statement: SQLiteStatement
  /// The end of the exported period, in Unix seconds.
  private let end: Int64

  /// The selected columns, in the order of `Column`. SQLite decodes every selected column of every row.
  enum Columns: String {
    /// The columns that decide if a key is exported; `keyData` and `key()` are unavailable.
    case forFilter = "regions, travels, released_at, revised_released_at, revised_report_type"
    case all = """
      regions, travels, released_at, revised_released_at, revised_report_type, \
      key_data, rolling_start, rolling_period, transmission_risk, report_type, days_since_onset, \
      revised_days_since_onset, revised_transmission_risk, is_padding, checksum, revision_checksum
      """
  }

  private enum Column: Int32 {
    case regions, travels, releasedAt, revisedReleasedAt, revisedReportType
    case keyData, rollingStart, rollingPeriod, transmissionRisk, reportType, daysSinceOnset
    case revisedDaysSinceOnset, revisedTransmissionRisk, isPadding, checksum, revisionChecksum
  }

  init(_ statement: SQLiteStatement, end: Int64) {
    self.statement = statement
    self.end = end
  }

  /// The comma-separated regions in UTF-8.
  var regions: UnsafeRawBufferPointer {
    let text = sqlite3_column_text(statement, Column.regions.rawValue)
    return bytes(at: text, of: .regions)
  }
  var travels: Bool { number(.travels) != 0 }
  var keyData: Data { Data(keyBytes) }
  /// In Unix seconds.
  var releasedAt: Int64 { number(.releasedAt) }
  var isPadding: Bool { number(.isPadding) != 0 }

  /// True if the key was revised before the period's end; later revisions belong to later files.
  private var isRevised: Bool {
    guard let revisedAt = numberIfAny(.revisedReleasedAt) else { return false }
    return revisedAt < end
  }

  /// True if the key was revoked before the period's end.
  var isRevoked: Bool {
    isRevised && numberIfAny(.revisedReportType) == Int64(ReportType.revoked.rawValue)
  }

  /// Returns the key as it is published in the period, with its original or its revised properties.
  ///
  /// - Throws: `DatabaseError` if the values are not those of a key, which the table's checks rule out.
  func key() throws -> DiagnosisKey {
    let isRevised = isRevised
    let risk = numberIfAny(isRevised ? .revisedTransmissionRisk : .transmissionRisk)
    let type = numberIfAny(isRevised ? .revisedReportType : .reportType)
    let days = numberIfAny(isRevised ? .revisedDaysSinceOnset : .daysSinceOnset)
    guard let words = statement.words(at: Column.keyData.rawValue),
      let start = UInt32(exactly: number(.rollingStart)),
      let period = UInt32(exactly: number(.rollingPeriod)),
      let risk = risk.flatMap({ UInt8(exactly: $0) }),
      let key = TemporaryExposureKey(
        words: words, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period),
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk,
        reportType: type.flatMap { Int32(exactly: $0) }.flatMap(ReportType.init),
        daysSinceOnsetOfSymptoms: days.flatMap { Int32(exactly: $0) })
    else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    return diagnosisKey
  }

  /// True if the key was ever revised.
  var isEverRevised: Bool { numberIfAny(.revisedReleasedAt) != nil }

  /// True if the values are those that were stored.
  var isIntact: Bool {
    number(.checksum) == checksum
      && numberIfAny(.revisionChecksum)
        == (numberIfAny(.revisedReleasedAt) == nil ? nil : revisionChecksum)
  }

  /// As `StoredKey.checksum(releasedAt:)`.
  var checksum: Int64 {
    let words = statement.words(at: Column.keyData.rawValue) ?? (0, 0)
    var checksum = RowChecksum()
    checksum.add(words.0)
    checksum.add(words.1)
    for column in [Column.rollingStart, .rollingPeriod, .transmissionRisk] {
      checksum.add(number(column))
    }
    checksum.add(numberIfAny(.reportType))
    checksum.add(numberIfAny(.daysSinceOnset))
    checksum.add(regions)
    for column in [Column.travels, .releasedAt, .isPadding] { checksum.add(number(column)) }
    return checksum.value
  }

  /// As `StoredKey.revisionChecksum`.
  var revisionChecksum: Int64 {
    let words = statement.words(at: Column.keyData.rawValue) ?? (0, 0)
    var checksum = RowChecksum()
    checksum.add(words.0)
    checksum.add(words.1)
    checksum.add(numberIfAny(.revisedReportType))
    checksum.add(numberIfAny(.revisedTransmissionRisk))
    checksum.add(numberIfAny(.revisedDaysSinceOnset))
    checksum.add(number(.revisedReleasedAt))
    return checksum.value
  }

  private var keyBytes: UnsafeRawBufferPointer {
    bytes(at: sqlite3_column_blob(statement, Column.keyData.rawValue), of: .keyData)
  }

  /// SQLite knows the size of a column only after its value was requested.
  private func bytes(at start: UnsafeRawPointer?, of column: Column) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(statement, column.rawValue)))
  }

  private func number(_ column: Column) -> Int64 {
    sqlite3_column_int64(statement, column.rawValue)
  }

  private func numberIfAny(_ column: Column) -> Int64? {
    sqlite3_column_type(statement, column.rawValue) == SQLITE_NULL ? nil : number(column)
  }
}

extension StoredKeyRow: Redacted {}
