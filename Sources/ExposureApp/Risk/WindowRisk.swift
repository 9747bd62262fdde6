import Foundation

/// What a policy makes of exposure windows. Documentation/App.md 4.5.
public struct WindowRisk: Hashable, Sendable {
  /// One day with windows that no filter dropped.
  public struct Day: Hashable, Sendable {
    /// 00:00 UTC.
    public let date: Date
    /// How long the scans of its windows were, in seconds, not weighted.
    public let seconds: Int
    /// Minutes, weighted by nearness and transmission risk.
    public let normalizedTime: Double
    /// The level of the day; nil below all of them.
    public let level: WindowRiskLevel?
    /// How many different encounters there were at least, by the level of their windows; none on a
    /// day without a level.
    public let encounters: [WindowRiskLevel: Int]
  }

  /// The days, oldest first.
  public let days: [Day]

  /// High where a day is high, otherwise low.
  public var total: WindowRiskLevel { days.compactMap(\.level).max() ?? .low }

  /// The days of `level`, oldest first.
  public func days(at level: WindowRiskLevel) -> [Date] {
    days.filter { $0.level == level }.map(\.date)
  }

  /// How many different encounters of `level` there were at least.
  public func encounterCount(at level: WindowRiskLevel) -> Int {
    days.reduce(0) { $0 + ($1.encounters[level] ?? 0) }
  }
}
