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
  static let columnCount = 10

  init(_ key: PublishableKey, isPadding: Bool = false) {
    bytes = Data(key.key.key.secretBytes)
    rollingStart = Int64(key.key.key.rollingStart.rawValue)
    rollingPeriod = Int64(key.key.key.rollingPeriod)
    transmissionRisk = Int64(key.key.transmissionRiskLevel)
    reportType = key.key.reportType.map { Int64($0.rawValue) }
    daysSinceOnset = key.key.daysSinceOnsetOfSymptoms.map(Int64.init)
    regions = key.regions.joined(separator: ",")
    travels = key.travels
    releasedAt = Int64(key.releasedAt.timeIntervalSince1970)
    self.isPadding = isPadding
  }

  /// What goes into the columns, in their order.
  var values: [(any DatabaseValueConvertible)?] {
    [
      bytes, rollingStart, rollingPeriod, transmissionRisk, reportType, daysSinceOnset, regions,
      travels, releasedAt, isPadding,
    ]
  }
}

extension StoredKey: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
