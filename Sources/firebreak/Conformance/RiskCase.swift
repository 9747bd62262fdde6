import ExposureApp
import Foundation

/// One case: windows by their age, and what is expected of them.
struct RiskCase: Decodable {
  private let description: String
  private let exposureWindows: [RiskCaseWindow]
  private let expTotalRiskLevel: Int
  private let expAgeOfMostRecentDateWithLowRisk: Int?
  private let expAgeOfMostRecentDateWithHighRisk: Int?
  private let expNumberOfDaysWithLowRisk: Int
  private let expNumberOfDaysWithHighRisk: Int
  private let expTotalMinimumDistinctEncountersWithLowRisk: Int
  private let expTotalMinimumDistinctEncountersWithHighRisk: Int

  /// What `policy` makes of the windows, against what is expected.
  func outcome(by policy: WindowRiskPolicy) -> CaseOutcome {
    let risk = policy.risk(of: exposureWindows.map(\.window))
    let got = [
      Self.text(risk.total.rawValue),
      Self.text(.low, risk), Self.text(.high, risk),
    ].joined(separator: "; ")
    return CaseOutcome(name: description, expected: expected, got: got)
  }

  private var expected: String {
    [
      Self.text(expTotalRiskLevel),
      Self.text(
        .low, days: expNumberOfDaysWithLowRisk, age: expAgeOfMostRecentDateWithLowRisk,
        encounters: expTotalMinimumDistinctEncountersWithLowRisk),
      Self.text(
        .high, days: expNumberOfDaysWithHighRisk, age: expAgeOfMostRecentDateWithHighRisk,
        encounters: expTotalMinimumDistinctEncountersWithHighRisk),
    ].joined(separator: "; ")
  }

  private static func text(_ total: Int) -> String { "total risk \(total)" }

  private static func text(_ level: WindowRiskLevel, _ risk: WindowRisk) -> String {
    let days = risk.days(at: level)
    return text(
      level, days: days.count, age: days.last.map(RiskCaseWindow.age),
      encounters: risk.encounterCount(at: level))
  }

  private static func text(
    _ level: WindowRiskLevel, days: Int, age: Int?, encounters: Int
  ) -> String {
    "\(level): \(days) days, the latest \(age.map(String.init) ?? "never"), \(encounters) encounters"
  }
}
