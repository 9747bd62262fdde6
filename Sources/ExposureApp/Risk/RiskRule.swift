import KeyServerAPI

/// One row of the table that turns a score into a level, with the sentence that an official reads.
public struct RiskRule: Sendable, Hashable {
  /// The rule in words.
  public let sentence: String
  /// Which scores it holds for, 0...4096.
  public let scores: ClosedRange<Int>
  /// What it says.
  public let level: RiskLevel
}

extension RiskRule {
  /// The largest score there is: four values of 8.
  public static let scoreMax = 4_096

  /// The table for `thresholds`, lowest first: the ranges touch, do not overlap and cover every
  /// score. Documentation/App.md 4.3.
  public static func table(for thresholds: RiskLevels) -> [RiskRule] {
    let rows: [(sentence: String, from: Int, to: Int, level: RiskLevel)] = [
      ("No encounter that counts is no risk.", 0, thresholds.maxNoRiskScore, .none),
      (
        "A short or distant encounter is a low risk.",
        thresholds.maxNoRiskScore + 1, thresholds.maxLowRiskScore, .low
      ),
      (
        "A longer or closer encounter is a moderate risk.",
        thresholds.maxLowRiskScore + 1, thresholds.maxMiddleRiskScore, .medium
      ),
      (
        "A quarter of an hour close by is a high risk.",
        thresholds.maxMiddleRiskScore + 1, scoreMax, .high
      ),
    ]
    return rows.compactMap { row in
      row.from <= row.to
        ? RiskRule(sentence: row.sentence, scores: row.from...row.to, level: row.level) : nil
    }
  }
}
