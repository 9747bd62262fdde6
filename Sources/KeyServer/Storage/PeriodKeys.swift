import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import Secrets
import ServerStorage

/// The keys of one period and filter, read with one cursor in the order of their bytes. This is the order of the
/// table, so nothing is sorted, and only one row is in memory at a time.
struct PeriodKeys {
  /// Unix seconds.
  let start: Int64
  /// Unix seconds.
  let end: Int64
  /// Nil admits all keys.
  var filter: KeyFilter?
  var firstKey: Data?
  var beforeKey: Data?
  /// Counts the rows that are left out because their checksums are wrong; nil if only columns for the filter are
  /// read.
  var damage: StoredDamage?

  /// Calls `body` for every key that was released in the period.
  func forEachReleased(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    try forEach(.released, in: db, body)
  }

  /// Calls `body` for every key that was released before the period and revised in it.
  func forEachRevised(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    try forEach(.revised, in: db, body)
  }

  /// Returns the number of keys that were released in each of `periods`, which all end at one moment. The table is
  /// read once for all of them.
  static func releasedCounts(of periods: [PeriodKeys], in db: Database) throws -> [Int] {
    guard var widest = periods.min(by: { $0.start < $1.start }) else { return [] }
    widest.filter = nil
    var counts = Array(repeating: 0, count: periods.count)
    var filters = periods.map { CachedFilter($0.filter) }
    try widest.forEach(.released, .forFilter, in: db) { row in
      for number in periods.indices where row.releasedAt >= periods[number].start {
        if filters[number].admits(row) { counts[number] += 1 }
      }
    }
    return counts
  }

  /// Returns at most `count` of the keys that were released in the period, the first ones by their bytes.
  func released(atMost count: Int, in db: Database) throws -> [PublishableKey] {
    var keys: [PublishableKey] = []
    try forEachReleased(in: db) { row in
      guard keys.count < count else { return }
      keys.append(
        PublishableKey(
          key: try row.key(),
          regions: String(decoding: row.regions, as: UTF8.self).split(separator: ",")
            .map(String.init),
          travels: row.travels, releasedAt: Date(timeIntervalSince1970: Double(row.releasedAt))))
    }
    return keys
  }

  /// Returns the bytes of the keys at `positions` in the order of all released and revised keys.
  func keys(at positions: Set<Int>, in db: Database) throws -> [Data] {
    guard !positions.isEmpty else { return [] }
    var keys: [Data] = []
    var position = 0
    try forEach(.either, in: db) { row in
      if positions.contains(position) { keys.append(row.keyData) }
      position += 1
    }
    return keys
  }

  /// Returns the number of keys that were released before the period and revised in it.
  func revisedCount(in db: Database) throws -> Int {
    var count = 0
    try forEach(.revised, .forFilter, in: db) { _ in count += 1 }
    return count
  }
}

extension PeriodKeys {
  /// SQL conditions that select keys.
  private enum Kind: String {
    case released = """
      WHERE released_at >= $start AND released_at < $end
      """
    case revised = """
      INDEXED BY diagnosis_key_revised
      WHERE revised_released_at >= $start AND revised_released_at < $end AND released_at < $start
      """
    case either = """
      WHERE ((released_at >= $start AND released_at < $end)
        OR (released_at < $start AND revised_released_at >= $start AND revised_released_at < $end))
      """
  }

  private func forEach(
    _ kind: Kind, _ columns: StoredKeyRow.Columns = .all, in db: Database,
    _ body: (StoredKeyRow) throws -> Void
  ) throws {
    let statement = try db.makeStatement(
      sql: """
        SELECT \(columns.rawValue) FROM diagnosis_key \(kind.rawValue)
        \(firstKey == nil ? "" : "AND key_data >= $first")
        \(beforeKey == nil ? "" : "AND key_data < $before")
        ORDER BY key_data
        """)
    var filter = CachedFilter(filter)
    try statement.forEachRow(arguments, in: db) { row in
      let row = StoredKeyRow(row, end: end)
      // A key can be revoked in a file only if an earlier file contained it.
      guard !row.isRevoked || row.releasedAt < start, filter.admits(row) else { return }
      // Skipped, because a corrupted key would be signed and published.
      guard columns == .forFilter || row.isIntact else {
        damage?.addSkippedRow()
        return
      }
      try body(row)
    }
  }

  private var arguments: StatementArguments {
    var arguments: StatementArguments = ["start": start, "end": end]
    if let firstKey { arguments += ["first": firstKey] }
    if let beforeKey { arguments += ["before": beforeKey] }
    return arguments
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

/// A filter that caches its last result: nearly all keys of a period have the same regions.
private struct CachedFilter {
  private let filter: KeyFilter?
  private var last: (regions: [UInt8], travels: Bool, isAdmitted: Bool)?

  init(_ filter: KeyFilter?) {
    self.filter = filter
  }

  mutating func admits(_ row: StoredKeyRow) -> Bool {
    guard let filter else { return true }
    let (regions, travels) = (row.regions, row.travels)
    if let last, last.travels == travels, Self.isEqual(last.regions, regions) {
      return last.isAdmitted
    }
    let text = String(decoding: regions, as: UTF8.self)
    let isAdmitted = filter.admits(regions: text.split(separator: ","), travels: travels)
    last = (Array(regions), travels, isAdmitted)
    return isAdmitted
  }

  /// Uses `memcmp`, because it runs twice for every row.
  private static func isEqual(_ text: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
    text.withUnsafeBytes { text in
      guard text.count == other.count else { return false }
      guard let start = text.baseAddress, let otherStart = other.baseAddress else { return true }
      return memcmp(start, otherStart, text.count) == 0
    }
  }
}
