// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import RiskRules
import World

/// The history of checks that the user sees. The property names are the JSON keys on disk.
struct CheckHistory: Codable, Sendable, Equatable {
  /// The checks that analysed files, oldest first.
  private(set) var checks: [CheckRecord] = []
  /// The number of analysed keys for each recent day; the key is the number of days since 1970 in UTC.
  var dayChecks: [Int: Int] = [:]
  /// The number of keys analysed since the installation.
  var totalKeysCount = 0
  /// The end of the last complete check.
  private(set) var lastCheck: Date?
  /// The reason why the last check failed; `nil` if it succeeded.
  private(set) var lastFailure: CheckFailure?
  /// The time of the first failure since the last complete check.
  private(set) var failingSince: Date?

  /// Records the end of a check.
  mutating func finish(_ failure: CheckFailure?, at now: Date) {
    lastFailure = failure
    guard failure != nil else {
      lastCheck = now
      failingSince = nil
      return
    }
    // A later time was recorded before the clock was set back.
    failingSince = min(failingSince ?? now, now)
  }

  /// Counts the time of failures from now on.
  mutating func forgetFailures() { failingSince = nil }

  /// Records the results of a check that analysed files.
  mutating func record(
    at now: Date, keysCount: Int, matchedKeyCount: Int, riskScore: Int,
    level: WindowRiskLevel? = nil, analysedFiles: Int
  ) {
    if analysedFiles > 0 {
      checks.append(
        CheckRecord(
          id: UUID(), date: now, matchedKeyCount: matchedKeyCount, keysCount: keysCount,
          riskScore: riskScore, level: level))
    }
    dayChecks[now.unixDay, default: 0] += keysCount
    totalKeysCount += keysCount
  }

  /// Removes expired entries: daily counts after a week, the others after fourteen days. Entries of a time
  /// that lies ahead are removed when the clock is right again.
  mutating func prune(keeping period: RetentionPeriod) {
    checks.removeAll { !period.keeps($0.date, forSeconds: RemovalRule.exposureSeconds) }
    let today = period.times.map(\.unixDay)
    guard !today.isEmpty else { return }
    dayChecks = dayChecks.filter { day in
      today.contains { ($0 - RemovalRule.dayChecksDays + 1...$0 + 1).contains(day.key) }
    }
  }

  /// Removes the checks with these IDs. The counts of keys stay.
  mutating func removeChecks(_ ids: Set<UUID>) { checks.removeAll { ids.contains($0.id) } }

  /// Removes all entries and counts.
  mutating func removeChecks() { (checks, dayChecks, totalKeysCount) = ([], [:], 0) }

  /// The number of keys analysed today and on the days before, `days` in all, at most
  /// `RemovalRule.dayChecksDays`.
  func keysCount(ofDays days: Int, at now: Date) -> Int {
    let first = now.unixDay - min(max(days, 0), RemovalRule.dayChecksDays) + 1
    return dayChecks.reduce(0) { $0 + ($1.key >= first && $1.key <= now.unixDay ? $1.value : 0) }
  }
}

extension CheckHistory {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    checks =
      try fields.decodeIfPresent([CheckRecord].self, forKey: .checks)
      ?? EarlierChecks(from: decoder).checks
    dayChecks = try fields.decode([Int: Int].self, forKey: .dayChecks)
    totalKeysCount = try fields.decode(Int.self, forKey: .totalKeysCount)
    lastCheck = try fields.decodeIfPresent(Date.self, forKey: .lastCheck)
    lastFailure = try fields.decodeIfPresent(CheckFailure.self, forKey: .lastFailure)
    failingSince = try fields.decodeIfPresent(Date.self, forKey: .failingSince)
  }
}

/// The lists of an earlier version, which stored the keys and the risk of a check apart.
private struct EarlierChecks: Decodable {
  struct Keys: Decodable {
    let id: UUID
    let date: Date
    let matchedKeyCount: Int
    let keysCount: Int
  }

  struct Risk: Decodable {
    let riskScore: Int
    let level: WindowRiskLevel?
  }

  let analyzeChecks: [Keys]
  let riskChecks: [Risk]

  var checks: [CheckRecord] {
    zip(analyzeChecks, riskChecks).map { keys, risk in
      CheckRecord(
        id: keys.id, date: keys.date, matchedKeyCount: keys.matchedKeyCount,
        keysCount: keys.keysCount, riskScore: risk.riskScore, level: risk.level)
    }
  }
}

/// A check that analysed key files. The property names are the JSON keys on disk.
public struct CheckRecord: Codable, Sendable, Hashable, Identifiable {
  /// An ID for the app's lists.
  public let id: UUID
  /// The end of the check.
  public let date: Date
  /// The number of keys that this phone has encountered.
  public let matchedKeyCount: Int
  /// The number of analysed keys.
  public let keysCount: Int
  /// The highest score; 0 without exposures or with a policy for exposure windows.
  public let riskScore: Int
  /// The highest level of a day; `nil` without a policy or below the lowest level.
  public let level: WindowRiskLevel?
}
