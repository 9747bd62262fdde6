/// What one detection found.
///
/// A value that crosses queues; Apple's objects are made of it where an app gets them.
package struct DetectionResult: Hashable, Sendable {
  /// The sums.
  package let found: ExposureSummary
  /// The exposures of version 1 that pass the filters.
  package let incidents: [ScoredIncident]
  /// The windows of version 2, in an order that links none of them.
  package let exposureWindows: [ExposureWindow]

  /// A result of these parts.
  init(
    found: ExposureSummary, incidents: [ScoredIncident] = [],
    exposureWindows: [ExposureWindow] = []
  ) {
    self.found = found
    self.incidents = incidents
    self.exposureWindows = exposureWindows
  }

  /// How many different keys matched.
  package var matchedKeyCount: Int { found.matchedKeyCount }
}

/// What a detection found (Documentation/RiskScoring.md 5).
package struct ExposureSummary: Hashable, Sendable {
  /// How many different keys matched, whatever they score.
  package var matchedKeyCount = 0
  /// Days since the latest matched key, whatever it scores; 0 where none matched.
  package var daysSinceLastExposure = 0
  /// Seconds in each range of attenuation over all exposures that pass the filters; version 1 only.
  package var attenuationDurations: [Int] = []
  /// The highest score that passes the filters.
  package var maximumScore = RiskScore(fullRange: 0)
  /// The sum of the uncapped scores that pass the filters.
  package var scoreSumFullRange = 0
  /// The exposures day by day, oldest first; version 2 only.
  package var days: [DaySummary] = []

  /// Nothing found.
  package init() {}
}
