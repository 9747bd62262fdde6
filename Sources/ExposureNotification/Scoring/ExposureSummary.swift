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
