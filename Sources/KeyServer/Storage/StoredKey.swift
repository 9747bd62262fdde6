import ExposureKeys
import Foundation
import GRDB

/// One row of `diagnosis_key`.
struct StoredKey {
  var bytes: Data
  var rollingStart: Int64
  var rollingPeriod: Int64
  var transmissionRisk: Int64
  var reportType: Int64?
  var daysSinceOnset: Int64?
  /// Comma-separated, sorted.
  var regions: String
  var travels: Bool
  /// Unix seconds.
  var releasedAt: Int64
  /// Whether it is nobody's key, made to fill a file; such a key never leaves for other countries.
  var isPadding: Bool

  static let columns = """
    key_data, rolling_start, rolling_period, transmission_risk, report_type, days_since_onset, \
    regions, travels, released_at, is_padding
    """

  /// A place for each of the columns.
  static let places = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

  init(_ key: PublishableKey) {
    bytes = Data(key.key.key.secretBytes)
    rollingStart = Int64(key.key.key.rollingStart.rawValue)
    rollingPeriod = Int64(key.key.key.rollingPeriod)
    transmissionRisk = Int64(key.key.transmissionRiskLevel)
    reportType = key.key.reportType.map { Int64($0.rawValue) }
    daysSinceOnset = key.key.daysSinceOnsetOfSymptoms.map(Int64.init)
    regions = key.regions.joined(separator: ",")
    travels = key.travels
    releasedAt = Int64(key.releasedAt.timeIntervalSince1970)
    isPadding = false
  }

  init(row: Row) {
    bytes = row["key_data"]
    rollingStart = row["rolling_start"]
    rollingPeriod = row["rolling_period"]
    transmissionRisk = row["transmission_risk"]
    reportType = row["report_type"]
    daysSinceOnset = row["days_since_onset"]
    regions = row["regions"]
    travels = row["travels"]
    releasedAt = row["released_at"]
    isPadding = row["is_padding"]
  }

  /// What goes into the columns, in their order.
  var values: [DatabaseValue] {
    let values: [(any DatabaseValueConvertible)?] = [
      bytes, rollingStart, rollingPeriod, transmissionRisk, reportType, daysSinceOnset, regions,
      travels, releasedAt, isPadding,
    ]
    return values.map { $0?.databaseValue ?? .null }
  }

  /// The key itself; nil where the row is not one, which the table's checks rule out.
  var diagnosisKey: DiagnosisKey? {
    guard let start = UInt32(exactly: rollingStart), let period = UInt32(exactly: rollingPeriod),
      let risk = UInt8(exactly: transmissionRisk),
      let key = TemporaryExposureKey(
        bytes: bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
    else { return nil }
    return DiagnosisKey(
      key: key, transmissionRiskLevel: risk,
      reportType: reportType.flatMap { Int32(exactly: $0) }.flatMap(ReportType.init),
      daysSinceOnsetOfSymptoms: daysSinceOnset.flatMap { Int32(exactly: $0) })
  }

  /// The row with its release not before `moment`, in Unix seconds: no key enters a closed period.
  func released(from moment: Int64) -> StoredKey {
    var copy = self
    copy.releasedAt = max(releasedAt, moment)
    return copy
  }

  /// A row like this one around other bytes: what a padding key looks like.
  func padding(_ bytes: [UInt8]) -> StoredKey {
    var copy = self
    copy.bytes = Data(bytes)
    copy.isPadding = true
    return copy
  }
}

extension StoredKey: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
