/// What a policy says of one day of exposure windows. Documentation/App.md 4.6.
public struct DayJudgement: Codable, Hashable, Sendable {
  /// The level of the day; nil below all of them.
  public let level: WindowRiskLevel?
  /// Minutes, weighted by nearness and transmission risk.
  public let normalizedMinutes: Double
}
