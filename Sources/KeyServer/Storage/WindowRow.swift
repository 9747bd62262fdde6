import ExposureKeys
import Foundation
import GRDB

/// A row on its way from the database into a file; good until the cursor moves on.
struct WindowRow {
  private let row: Row
  /// The end of the period it is read for, in Unix seconds.
  private let end: Int64

  /// By position, since a name costs a search for every key.
  static let columns = """
    key_data, rolling_start, rolling_period, transmission_risk, report_type, days_since_onset, \
    regions, travels, released_at, revised_released_at, revised_report_type, \
    revised_days_since_onset, revised_transmission_risk
    """

  init(row: Row, end: Int64) {
    self.row = row
    self.end = end
  }

  /// Comma-separated.
  var regions: String { row[6] }
  var travels: Bool { row[7] }
  var keyData: Data { row[0] }
  /// In Unix seconds.
  var releasedAt: Int64 { row[8] }

  /// Whether a revision counts by the period's end; later ones are of later files.
  private var isRevised: Bool {
    guard let revisedAt = row[9] as Int64? else { return false }
    return revisedAt < end
  }

  /// Whether it was withdrawn by the period's end: a key that never was in a file never is, then.
  var isWithdrawn: Bool {
    isRevised && row[10] as Int64? == Int64(ReportType.revoked.rawValue)
  }

  /// The key as it is published in the period: as it was uploaded, or as it has become.
  ///
  /// - Throws: `DatabaseError` where the row is no key, which the table's checks rule out.
  func key() throws -> DiagnosisKey {
    let isRevised = isRevised
    let risk: Int64 = row[isRevised ? 12 : 3]
    let type: Int64? = row[isRevised ? 10 : 4]
    let days: Int64? = row[isRevised ? 11 : 5]
    guard let start = UInt32(exactly: row[1] as Int64),
      let period = UInt32(exactly: row[2] as Int64), let risk = UInt8(exactly: risk),
      let key = TemporaryExposureKey(
        words: words, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period),
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk,
        reportType: type.flatMap { Int32(exactly: $0) }.flatMap(ReportType.init),
        daysSinceOnsetOfSymptoms: days.flatMap { Int32(exactly: $0) })
    else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    return diagnosisKey
  }

  private var words: (UInt64, UInt64) {
    // Sixteen bytes without an allocation; nothing here is a UUID.
    let bytes: UUID = row[0]
    return withUnsafeBytes(of: bytes.uuid) {
      (
        $0.loadUnaligned(as: UInt64.self),
        $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      )
    }
  }
}

extension WindowRow: CustomStringConvertible, CustomReflectable {
  var description: String { "WindowRow" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
