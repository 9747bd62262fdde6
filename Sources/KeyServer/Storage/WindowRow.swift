import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite

/// A row on its way from the database into a file; good until the statement moves on.
///
/// Its columns are read as SQLite has them: a row of GRDB's asks each time what type a column has, which
/// the table says already (it is STRICT). Only where a column may be NULL is that asked.
struct WindowRow {
  private let statement: SQLiteStatement
  /// The end of the period it is read for, in Unix seconds.
  private let end: Int64

  /// Which columns a row is read with, in the order of `Column`. SQLite takes each of them out of its record
  /// for each row, asked for or not.
  enum Columns: String {
    /// What says whether a key goes in: for counting. `keyData` and `key()` are not there.
    case judged = "regions, travels, released_at, revised_released_at, revised_report_type"
    /// All that a row can be asked for.
    case all = """
      regions, travels, released_at, revised_released_at, revised_report_type, \
      key_data, rolling_start, rolling_period, transmission_risk, report_type, days_since_onset, \
      revised_days_since_onset, revised_transmission_risk
      """
  }

  private enum Column: Int32 {
    case regions, travels, releasedAt, revisedReleasedAt, revisedReportType
    case keyData, rollingStart, rollingPeriod, transmissionRisk, reportType, daysSinceOnset
    case revisedDaysSinceOnset, revisedTransmissionRisk
  }

  init(_ statement: SQLiteStatement, end: Int64) {
    self.statement = statement
    self.end = end
  }

  /// The bytes of the comma-separated regions.
  var regions: UnsafeRawBufferPointer {
    let text = sqlite3_column_text(statement, Column.regions.rawValue)
    return bytes(at: text, of: .regions)
  }
  var travels: Bool { number(.travels) != 0 }
  var keyData: Data { Data(keyBytes) }
  /// In Unix seconds.
  var releasedAt: Int64 { number(.releasedAt) }

  /// Whether a revision counts by the period's end; later ones are of later files.
  private var isRevised: Bool {
    guard let revisedAt = numberIfAny(.revisedReleasedAt) else { return false }
    return revisedAt < end
  }

  /// Whether it was withdrawn by the period's end: a key that never was in a file never is, then.
  var isWithdrawn: Bool {
    isRevised && numberIfAny(.revisedReportType) == Int64(ReportType.revoked.rawValue)
  }

  /// The key as it is published in the period: as it was uploaded, or as it has become.
  ///
  /// - Throws: `DatabaseError` where the row is no key, which the table's checks rule out.
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

  private var keyBytes: UnsafeRawBufferPointer {
    bytes(at: sqlite3_column_blob(statement, Column.keyData.rawValue), of: .keyData)
  }

  /// SQLite knows how many bytes a column has once it has been asked for them.
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

extension WindowRow: CustomStringConvertible, CustomReflectable {
  var description: String { "WindowRow" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
