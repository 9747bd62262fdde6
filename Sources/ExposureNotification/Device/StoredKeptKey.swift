import ExposureKeys
import Foundation

/// A `KeptKey` as it lies on the disk, under its seal.
struct StoredKeptKey: Codable {
  let bytes: Data
  let start: UInt32
  let period: UInt32
  let risk: UInt8
  let report: Int32?
  let daysSinceOnset: Int32?
  let variant: UInt8?
  let since: Date

  init(_ kept: KeptKey) {
    bytes = Data(kept.key.key.secretBytes)
    start = kept.key.key.rollingStart.rawValue
    period = kept.key.key.rollingPeriod
    risk = kept.key.transmissionRiskLevel
    report = kept.key.reportType?.rawValue
    daysSinceOnset = kept.key.daysSinceOnsetOfSymptoms
    variant = kept.key.variantOfConcern?.rawValue
    since = kept.since
  }

  /// Nil where it is no key.
  var key: KeptKey? {
    TemporaryExposureKey(
      bytes: bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period
    ).flatMap { key in
      DiagnosisKey(
        key: key, transmissionRiskLevel: risk, reportType: report.flatMap(ReportType.init),
        daysSinceOnsetOfSymptoms: daysSinceOnset,
        variantOfConcern: variant.flatMap(VariantOfConcern.init))
    }.map { KeptKey(key: $0, since: since) }
  }
}

extension StoredKeptKey: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredKeptKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
