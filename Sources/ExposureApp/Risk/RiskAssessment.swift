import Foundation
import KeyServerAPI

/// What the exposures of the last fourteen days amount to. Documentation/App.md 4.3 and 4.6.
struct RiskAssessment {
  let rules: [RiskRule]

  init(thresholds: RiskLevels) {
    rules = RiskRule.table(for: thresholds)
  }

  /// The level of one score.
  func level(of score: Int) -> RiskLevel {
    let score = min(max(score, 0), RiskRule.scoreMax)
    return rules.first { $0.scores.contains(score) }?.level ?? .none
  }

  /// The level of the worst exposure that is not too old; exposures are not added up.
  func level(of exposures: [Exposure], at now: Date) -> RiskLevel {
    let oldest = RemovalRule.oldestExposure(at: now)
    return exposures.filter { $0.date >= oldest }.map { level(of: $0) }.max() ?? .none
  }

  /// By the policy where one has judged, else by the score.
  private func level(of exposure: Exposure) -> RiskLevel {
    guard let judgement = exposure.judgement else { return level(of: exposure.riskScore) }
    return judgement.level.map(RiskLevel.init) ?? .none
  }
}
