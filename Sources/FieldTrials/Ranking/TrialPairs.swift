// SPDX-License-Identifier: Apache-2.0

/// A phone with its score, as a member of one of the two groups.
package struct ScoredPhone: Hashable, Sendable {
  /// The index of the trial.
  package let trial: Int
  /// True for a phone with a high alert, false for one without alert.
  package let isPositive: Bool
  package let score: Double

  package init(trial: Int, isPositive: Bool, score: Double) {
    self.trial = trial
    self.isPositive = isPositive
    self.score = score
  }
}

/// The pairs of a positive and a negative that the positive wins, by the trials of both.
///
/// The area of any selection of trials follows from it without comparing scores again.
package struct TrialPairs: Sendable {
  private let trialCount: Int
  /// The number of positives of each trial.
  private var positives: [Double]
  /// The number of negatives of each trial.
  private var negatives: [Double]
  /// The won pairs by the trial of the positive and then that of the negative; a tie counts half.
  private var wins: [Double]

  package init(_ phones: [ScoredPhone], trialCount: Int) {
    self.trialCount = trialCount
    positives = [Double](repeating: 0, count: trialCount)
    negatives = positives
    wins = [Double](repeating: 0, count: trialCount * trialCount)
    let losers = phones.filter { !$0.isPositive }
    for phone in losers { negatives[phone.trial] += 1 }
    for winner in phones where winner.isPositive {
      positives[winner.trial] += 1
      for loser in losers {
        let won = winner.score > loser.score ? 1 : winner.score == loser.score ? 0.5 : 0
        wins[winner.trial * trialCount + loser.trial] += won
      }
    }
  }

  /// The area under the curve of all trials; nil if one of the groups is empty.
  package var area: Double? { area(drawing: [Double](repeating: 1, count: trialCount)) }

  /// The area without one trial; nil if one of the groups is empty.
  package func area(without trial: Int) -> Double? {
    var counts = [Double](repeating: 1, count: trialCount)
    counts[trial] = 0
    return area(drawing: counts)
  }

  /// The area of a sample in which each trial occurs as often as `counts` states.
  package func area(drawing counts: [Double]) -> Double? {
    var (won, positiveCount, negativeCount) = (0.0, 0.0, 0.0)
    for first in 0..<trialCount where counts[first] > 0 {
      positiveCount += counts[first] * positives[first]
      negativeCount += counts[first] * negatives[first]
      var row = 0.0
      for second in 0..<trialCount { row += counts[second] * wins[first * trialCount + second] }
      won += counts[first] * row
    }
    let pairs = positiveCount * negativeCount
    return pairs > 0 ? won / pairs : nil
  }
}
