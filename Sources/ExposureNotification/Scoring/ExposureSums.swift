import Foundation

/// Exposure risk of version 2 summed up, in seconds (Documentation/RiskScoring.md 8).
///
/// The sums are exact; they are rounded only where an app reads them.
package struct ExposureSums: Hashable, Sendable {
  /// The highest score of one window.
  package var maximumScore: Double = 0
  /// The sum of the scores.
  package var scoreSum: Double = 0
  /// The sum of the durations, weighted by attenuation alone.
  package var weightedDurationSum: Double = 0

  /// Nothing yet.
  package init() {}

  mutating func add(duration: Double, score: Double) {
    maximumScore = max(maximumScore, score)
    scoreSum += score
    weightedDurationSum += duration
  }

  /// The highest score, to the nearest minute.
  package var roundedMaximumScore: Double { Self.minutes(maximumScore, .toNearestOrAwayFromZero) }
  /// The sum of the scores, to the nearest minute.
  package var roundedScoreSum: Double { Self.minutes(scoreSum, .toNearestOrAwayFromZero) }
  /// The weighted durations, up to the next minute.
  package var roundedWeightedDurationSum: Double { Self.minutes(weightedDurationSum, .up) }

  private static func minutes(_ seconds: Double, _ rule: FloatingPointRoundingRule) -> Double {
    (seconds / 60).rounded(rule) * 60
  }
}
