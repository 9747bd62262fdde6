import Foundation

/// The summary of a detection. It identifies no person and no place.
open class ENExposureDetectionSummary: NSObject {
  let sums: ExposureSummary

  /// A summary without exposures.
  public override init() {
    sums = ExposureSummary()
  }

  /// The summary of one detection.
  package init(_ summary: ExposureSummary) {
    sums = summary
  }

  /// Seconds in each range of attenuation over all exposures; version 1 only.
  open var attenuationDurations: [NSNumber] {
    sums.attenuationDurations.map { NSNumber(value: $0) }
  }
  /// Days since the latest exposure; 0 if there is none.
  open var daysSinceLastExposure: Int { sums.daysSinceLastExposure }
  /// The number of different keys that matched.
  open var matchedKeyCount: UInt64 { UInt64(sums.matchedKeyCount) }
  /// The highest risk score, 0 to 255.
  open var maximumRiskScore: ENRiskScore { sums.maximumScore.capped }
  /// The highest risk score before capping, 0 to 4,096.
  open var maximumRiskScoreFullRange: Double { Double(sums.maximumScore.fullRange) }
  /// The two full range scores in the form that apps for iOS 13.5 use.
  open var metadata: [AnyHashable: Any]? {
    [
      "maximumRiskScoreFullRange": NSNumber(value: maximumRiskScoreFullRange),
      "riskScoreSumFullRange": NSNumber(value: riskScoreSumFullRange),
    ]
  }
  /// The sum of all risk scores before capping.
  open var riskScoreSumFullRange: Double { Double(sums.scoreSumFullRange) }
  /// The summaries of days with exposures, oldest first; version 2 only.
  open var daySummaries: [ENExposureDaySummary] {
    sums.days.map(ENExposureDaySummary.init)
  }
}

// A detection's values as Apple's objects; new objects each time.
extension DetectionResult {
  /// The summary.
  package var summary: ENExposureDetectionSummary { ENExposureDetectionSummary(found) }
  /// The exposures of API version 1.
  package var infos: [ENExposureInfo] { incidents.map(ENExposureInfo.init) }
  /// The windows of API version 2.
  package var windows: [ENExposureWindow] { exposureWindows.map(ENExposureWindow.init) }
}
