// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import Secrets
import ServerStorage

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

  /// As `PublishableKey.checksum(releasedAt:)`.
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

  /// As `PublishableKey.revisionChecksum`.
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
