import ExposureKeys
import Foundation

/// One key as people write it in JSON.
struct KeyJSON: Decodable {
  private let key: Data
  private let rollingStartNumber: UInt32
  private let rollingPeriod: UInt32?
  private let transmissionRisk: UInt8?
  private let reportType: ReportTypeJSON?
  private let daysSinceOnset: Int32?
  private let daysSinceOnsetOfSymptoms: Int32?
  private let variantOfConcern: VariantOfConcernJSON?

  /// The key, or nil where no phone can have had it.
  var diagnosisKey: DiagnosisKey? {
    let start = IntervalNumber(rawValue: rollingStartNumber)
    guard rollingStartNumber <= Int32.max,
      let key = TemporaryExposureKey(
        bytes: key, rollingStart: start, rollingPeriod: rollingPeriod ?? IntervalNumber.perDay)
    else { return nil }
    return DiagnosisKey(
      key: key, transmissionRiskLevel: transmissionRisk ?? 0, reportType: reportType?.value,
      daysSinceOnsetOfSymptoms: daysSinceOnsetOfSymptoms ?? daysSinceOnset,
      variantOfConcern: variantOfConcern?.value)
  }
}
