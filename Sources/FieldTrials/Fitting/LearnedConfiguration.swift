// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// Configurations that were fitted to all trials but one and applied to that one, for each trial.
///
/// Each score is divided by the threshold that was fitted with its configuration, so that the scores of different
/// configurations can be compared. No figure is computed for phones to which a configuration was fitted.
package struct LearnedConfiguration: Sendable {
  /// The chosen combination for each held-out trial.
  package let folds: [LearnedFold]
  /// The area of the held-out phones; nil if one of the groups is empty.
  package let heldOutArea: Double?
  package let interval: AreaInterval?
  /// The errors of the held-out phones at the fitted thresholds.
  package let errors: AlertErrors
  /// The held-out phones: their scores are multiples of the fitted thresholds.
  package let phones: [ScoredPhone]
  /// The number of combinations.
  package let pointCount: Int

  /// Returns nil if a trial leaves no positive or no negative for the fit.
  ///
  /// - Throws: The framework's error; its rules for windows are valid.
  package init?(
    _ sweep: ConfigurationSweep, of encounters: TrialEncounters, _ bootstrap: TrialBootstrap
  ) throws(ENError) {
    let phones = try SweepPhones(encounters)
    let pairs = sweep.points.map(phones.pairs(by:))
    var folds: [LearnedFold] = []
    var heldOut: [ScoredPhone] = []
    for trial in 0..<phones.trialCount {
      guard let best = Self.best(pairs, without: trial) else { return nil }
      let scored = phones.scored(by: sweep.points[best])
      let threshold = AlertFit.threshold(of: scored.filter { $0.trial != trial })
      let own = scored.filter { $0.trial == trial }
      heldOut += own.map {
        ScoredPhone(
          trial: trial, isPositive: $0.isPositive, score: $0.score / threshold)
      }
      folds.append(
        LearnedFold(
          trial: encounters.trialNames[trial], point: sweep.points[best], threshold: threshold,
          phoneCount: own.count))
    }
    self.folds = folds
    self.phones = heldOut
    pointCount = sweep.points.count
    let heldOutPairs = TrialPairs(heldOut, trialCount: phones.trialCount)
    heldOutArea = heldOutPairs.area
    interval = bootstrap.interval(of: heldOutPairs)
    errors = AlertErrors(of: heldOut, at: AlertThreshold(score: 1))
  }

  /// The index of the first combination with the largest area without `trial`.
  private static func best(_ pairs: [TrialPairs], without trial: Int) -> Int? {
    var best: (index: Int, area: Double)?
    for (index, pairs) in pairs.enumerated() {
      guard let area = pairs.area(without: trial) else { return nil }
      if area > best?.area ?? -1 { best = (index, area) }
    }
    return best?.index
  }
}

/// The combination that was fitted without one trial.
package struct LearnedFold: Sendable {
  /// The name of the held-out trial.
  package let trial: String
  package let point: SweepPoint
  /// The fitted threshold in weighted seconds.
  package let threshold: Double
  /// The number of compared phones of the held-out trial.
  package let phoneCount: Int
}

/// Fits the score from which a configuration alerts.
enum AlertFit {
  /// The threshold with the largest sum of sensitivity and specificity, in the middle between two scores.
  ///
  /// Of equal ones the widest gap between scores decides, then the lowest. If all scores are equal, it is that score,
  /// or one second for a score of 0, which no configuration alerts from.
  static func threshold(of phones: [ScoredPhone]) -> Double {
    let scores = Set(phones.map(\.score)).sorted()
    let gaps = zip(scores, scores.dropFirst())
    let candidates = gaps.map { (middle: ($0 + $1) / 2, width: $1 - $0) }
    let positives = Double(max(1, phones.count(where: \.isPositive)))
    let negatives = Double(max(1, phones.count { !$0.isPositive }))
    let only = scores.first ?? 0
    var best = (quality: -1.0, middle: only > 0 ? only : 1, width: 0.0)
    for candidate in candidates {
      let errors = AlertErrors(of: phones, at: AlertThreshold(score: candidate.middle))
      let quality =
        2 - Double(errors.missedAlerts) / positives - Double(errors.falseAlerts) / negatives
      if (quality, candidate.width) > (best.quality, best.width) {
        best = (quality, candidate.middle, candidate.width)
      }
    }
    return best.middle
  }
}
