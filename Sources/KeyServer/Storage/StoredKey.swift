import ExposureKeys
import Foundation

/// One row of `diagnosis_key`.
struct StoredKey {
  /// The sixteen bytes, as memory holds them.
  var words: (UInt64, UInt64)
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

  init(_ key: PublishableKey, isPadding: Bool = false) {
    words = key.key.key.secretWords
    rollingStart = Int64(key.key.key.rollingStart.rawValue)
    rollingPeriod = Int64(key.key.key.rollingPeriod)
    transmissionRisk = Int64(key.key.transmissionRiskLevel)
    reportType = key.key.reportType.map { Int64($0.rawValue) }
    daysSinceOnset = key.key.daysSinceOnsetOfSymptoms.map(Int64.init)
    // Nearly every key counts in one region, and fourteen keys are joined for each upload.
    regions = key.regions.count == 1 ? key.regions[0] : key.regions.joined(separator: ",")
    travels = key.travels
    releasedAt = Int64(key.releasedAt.timeIntervalSince1970)
    self.isPadding = isPadding
  }

  /// The sixteen bytes.
  var bytes: Data { withUnsafeBytes(of: words) { Data($0) } }
}

extension StoredKey: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
