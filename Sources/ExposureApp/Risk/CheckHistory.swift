import Foundation

/// What was checked, and when, for the person to read. Documentation/App.md 4.4.
struct CheckHistory: Codable, Sendable, Equatable {
  /// One row a run that analysed files.
  var analyzeChecks: [AnalyzeCheck] = []
  /// One row a run that found how high the risk is.
  var riskChecks: [RiskCheck] = []
  /// How many keys were analysed on each of the last days, by days since 1970 in UTC.
  var dayChecks: [Int: Int] = [:]
  /// How many keys were analysed since the beginning.
  var totalKeysCount = 0
  /// When the last run ended well.
  var lastCheck: Date?
  /// Why the last run did not end well; nil where it did.
  var lastFailure: CheckFailure?

  /// Takes one run that ended well.
  mutating func record(
    at now: Date, keysCount: Int, matchedKeyCount: Int, riskScore: Int,
    level: WindowRiskLevel? = nil, analysedFiles: Int
  ) {
    lastCheck = now
    if analysedFiles > 0 {
      analyzeChecks.append(
        AnalyzeCheck(date: now, matchedKeyCount: matchedKeyCount, keysCount: keysCount))
      riskChecks.append(
        RiskCheck(
          date: now, matchedKeyCount: matchedKeyCount, riskScore: riskScore, level: level))
    }
    dayChecks[Self.day(of: now), default: 0] += keysCount
    totalKeysCount += keysCount
    prune(at: now)
  }

  /// Removes what is too old: days after a week, rows after fourteen days.
  mutating func prune(at now: Date) {
    let oldest = RemovalRule.oldestExposure(at: now)
    analyzeChecks.removeAll { $0.date < oldest }
    riskChecks.removeAll { $0.date < oldest }
    let today = Self.day(of: now)
    dayChecks = dayChecks.filter { $0.key > today - RemovalRule.dayChecksDays }
  }

  /// The sums that the person sees.
  func sums(at now: Date) -> CheckSums {
    let today = Self.day(of: now)
    let week = dayChecks.filter { $0.key > today - RemovalRule.dayChecksDays }
    return CheckSums(
      lastCheck: lastCheck, todayKeysCount: dayChecks[today] ?? 0,
      last7DaysKeysCount: week.values.reduce(0, +), totalKeysCount: totalKeysCount)
  }

  private static func day(of date: Date) -> Int {
    Int((date.timeIntervalSince1970 / RemovalRule.daySeconds).rounded(.down))
  }
}
