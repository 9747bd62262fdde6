/// The result of one detection.
package struct DetectionResult: Hashable, Sendable {
  package let found: ExposureSummary
  /// The exposures of version 1 that reach the minimum scores.
  package let incidents: [ScoredIncident]
  /// The windows of version 2, in an order that does not show which belong together.
  package let exposureWindows: [ExposureWindow]

  init(
    found: ExposureSummary, incidents: [ScoredIncident] = [],
    exposureWindows: [ExposureWindow] = []
  ) {
    self.found = found
    self.incidents = incidents
    self.exposureWindows = exposureWindows
  }

  package var matchedKeyCount: Int { found.matchedKeyCount }
}

/// The totals of a detection.
package struct ExposureSummary: Hashable, Sendable {
  /// The number of distinct keys that matched, with any score.
  package var matchedKeyCount = 0
  /// Days since the latest matched key, with any score; 0 if none matched.
  package var daysSinceLastExposure = 0
  /// Seconds in each attenuation range over all exposures that reach the minimum scores; version 1 only.
  package var attenuationDurations: [Int] = []
  /// The highest score.
  package var maximumScore = RiskScore(fullRange: 0)
  /// The sum of the uncapped scores.
  package var scoreSumFullRange = 0
  /// The exposures by day, oldest first; version 2 only.
  package var days: [DaySummary] = []

  package init() {}
}
