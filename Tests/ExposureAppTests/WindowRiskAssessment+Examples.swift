import ExposureNotification
import Foundation

@testable import ExposureApp

extension WindowRiskPolicy {
  /// Minutes below 60 dB count once; 5 make a low, 15 a high risk; only a test at standard
  /// infectiousness counts.
  static var example: WindowRiskPolicy {
    let levels: [LevelMapping] = [
      .init(
        normalizedTimeRange: PolicyRange(min: 5, max: 15, maxExclusive: true), riskLevel: .low),
      .init(normalizedTimeRange: PolicyRange(min: 15, max: 9_999), riskLevel: .high),
    ]
    return WindowRiskPolicy(
      minutesAtAttenuationWeights: [
        .init(attenuationRange: PolicyRange(min: 0, max: 60, maxExclusive: true), weight: 1)
      ],
      normalizedTimePerEWToRiskLevelMapping: levels,
      normalizedTimePerDayToRiskLevelMapping: levels,
      trlEncoding: TransmissionRiskEncoding(
        infectiousnessOffsetStandard: 1, infectiousnessOffsetHigh: 2,
        reportTypeOffsetRecursive: 0, reportTypeOffsetSelfReport: 2,
        reportTypeOffsetConfirmedClinicalDiagnosis: 4, reportTypeOffsetConfirmedTest: 6),
      transmissionRiskValueMapping: [.init(transmissionRiskLevel: 7, transmissionRiskValue: 1)])
  }
}

extension WindowRiskAssessment {
  /// By `policy`, for people who are infectious on the day of their first symptoms.
  static func example(_ policy: WindowRiskPolicy = .example) throws -> WindowRiskAssessment {
    try WindowRiskAssessment(policy: policy) {
      let configuration = ENExposureConfiguration()
      configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [0: 1]
      return configuration
    }
  }
}

extension RiskWindow {
  /// So many minutes beside somebody with a positive test, on a day so many days before 2020-10-15.
  static func beside(minutes: Int, decibels: UInt8 = 50, daysAgo: Double = 1) -> RiskWindow {
    RiskWindow(
      date: HandClock.noon.addingTimeInterval(-HandClock.day * (daysAgo + 0.5)),
      reportType: .confirmedTest, infectiousness: .standard, calibrationConfidence: .high,
      scans: [.init(minimumAttenuation: decibels, seconds: minutes * 60)])
  }
}
