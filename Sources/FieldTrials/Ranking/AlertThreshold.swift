// SPDX-License-Identifier: Apache-2.0
import RiskRules

/// The score from which a system alerts.
package struct AlertThreshold: Hashable, Sendable {
  /// Weighted seconds in version 2, the full-range score in version 1.
  package let score: Double
  /// False if only higher scores raise an alert.
  package var isInclusive = true
  /// True if the source of the configuration states no threshold.
  package var isAssumed = false

  package init(score: Double, isInclusive: Bool = true, isAssumed: Bool = false) {
    self.score = score
    self.isInclusive = isInclusive
    self.isAssumed = isAssumed
  }

  /// The lowest time of a day with a high risk; nil if the policy has no high risk.
  package init?(highRiskOf policy: WindowRiskPolicy) {
    let high = policy.normalizedTimePerDayToRiskLevelMapping.filter { $0.riskLevel == .high }
      .map(\.normalizedTimeRange).min { $0.min < $1.min }
    guard let high else { return nil }
    self.init(score: high.min * 60, isInclusive: !high.minExclusive)
  }

  /// Fifteen weighted minutes, from which most of the published systems alert.
  package static let fifteenMinutes = AlertThreshold(score: 900)

  /// True if `score` raises an alert.
  package func isReached(by score: Double) -> Bool {
    isInclusive ? score >= self.score : score > self.score
  }
}

/// The errors of a threshold.
package struct AlertErrors: Hashable, Sendable {
  /// Phones without alert that reach the threshold.
  package let falseAlerts: Int
  /// Phones with a high alert that do not reach it.
  package let missedAlerts: Int

  package init(of phones: [ScoredPhone], at threshold: AlertThreshold) {
    falseAlerts = phones.count { !$0.isPositive && threshold.isReached(by: $0.score) }
    missedAlerts = phones.count { $0.isPositive && !threshold.isReached(by: $0.score) }
  }
}
