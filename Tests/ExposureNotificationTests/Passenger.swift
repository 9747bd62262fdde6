import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

/// Somebody whom a phone sits beside, and who publishes the key of that day.
struct Passenger {
  let key: TemporaryExposureKey

  init(_ number: UInt32 = 1, on day: Date = TestPhone.noon, period: UInt32 = 144) throws {
    let bytes = withUnsafeBytes(of: number.bigEndian, Array.init)
    let start = try #require(IntervalNumber(day)).startOfDay
    key = try #require(
      TemporaryExposureKey(
        bytes: Array(repeating: 9, count: 12) + bytes, rollingStart: start, rollingPeriod: period))
  }

  /// Half an hour beside `phone`, from now on its clock.
  func sits(beside phone: TestPhone) async {
    await phone.hear(key, seconds: Array(stride(from: 0, through: 1_800, by: 300)))
  }

  func published(
    _ reportType: ReportType = .confirmedTest, variant: VariantOfConcern? = nil
  ) throws -> DiagnosisKey {
    try #require(
      DiagnosisKey(
        key: key, transmissionRiskLevel: 7, reportType: reportType, daysSinceOnsetOfSymptoms: 0,
        variantOfConcern: variant))
  }

  /// A configuration of version 2 to which this passenger was infectious.
  static func configuration(
    _ map: [NSNumber: NSNumber] = [0: 1], testWeight: Double = 100
  ) -> ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = map
    configuration.reportTypeConfirmedTestWeight = testWeight
    return configuration
  }
}
