import Foundation

/// What a detection found, without naming anybody or any place.
open class ENExposureDetectionSummary: NSObject {
  /// The value behind it.
  let sums: ExposureSummary

  /// Nothing found.
  public override init() {
    sums = ExposureSummary()
  }

  /// What one detection found in all.
  package init(_ summary: ExposureSummary) {
    sums = summary
  }

  /// Seconds in each range of attenuation over all exposures; version 1 only.
  open var attenuationDurations: [NSNumber] {
    sums.attenuationDurations.map { NSNumber(value: $0) }
  }
  /// Days since the latest exposure; 0 where there is none.
  open var daysSinceLastExposure: Int { sums.daysSinceLastExposure }
  /// How many different keys matched.
  open var matchedKeyCount: UInt64 { UInt64(sums.matchedKeyCount) }
  /// The highest risk score, 0 to 255.
  open var maximumRiskScore: ENRiskScore { sums.maximumScore.capped }
  /// The highest risk score before capping, 0 to 4,096.
  open var maximumRiskScoreFullRange: Double { Double(sums.maximumScore.fullRange) }
  /// The two full range figures once more, as apps written for iOS 13.5 look for them.
  open var metadata: [AnyHashable: Any]? {
    [
      "maximumRiskScoreFullRange": NSNumber(value: maximumRiskScoreFullRange),
      "riskScoreSumFullRange": NSNumber(value: riskScoreSumFullRange),
    ]
  }
  /// The sum of all risk scores before capping.
  open var riskScoreSumFullRange: Double { Double(sums.scoreSumFullRange) }
  /// The exposures day by day, oldest first; version 2 only.
  open var daySummaries: [ENExposureDaySummary] {
    sums.days.map(ENExposureDaySummary.init)
  }
}

extension DetectionResult {
  /// The summary.
  package var summary: ENExposureDetectionSummary { ENExposureDetectionSummary(found) }
  /// The exposures of API version 1.
  package var infos: [ENExposureInfo] { incidents.map(ENExposureInfo.init) }
  /// The windows of API version 2.
  package var windows: [ENExposureWindow] { exposureWindows.map(ENExposureWindow.init) }
}
