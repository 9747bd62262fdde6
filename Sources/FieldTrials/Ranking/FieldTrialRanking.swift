// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// Risk configurations, ranked by how well their scores predict the phones' alerts.
///
/// Documentation/FieldTrials.md, "Ranking", describes the method.
package struct FieldTrialRanking: Sendable {
  /// The phones that can be scored.
  package let encounters: TrialEncounters
  /// The number of phones with a high alert.
  package let positives: Int
  /// The number of phones without an alert.
  package let negatives: Int
  /// The configurations, best first.
  package let ranks: [ConfigurationRank]
  /// The answers to the open questions about the recording.
  package let options: TrialOptions
  /// The samples of the intervals.
  package let bootstrap: TrialBootstrap

  /// Scores all phones with all configurations; without `configurations` with the published ones.
  ///
  /// - Throws: The framework's error for a published configuration that is out of range.
  package init(
    of trials: [FieldTrial], by configurations: [TrialConfiguration]? = nil,
    options: TrialOptions = TrialOptions(), bootstrap: TrialBootstrap? = nil
  ) throws(ENError) {
    let published = try TrialConfiguration.published()
    let encounters = TrialEncounters(of: trials, options: options)
    let others = TrialEncounters(of: trials, options: options.withOtherIPhonePower)
    let samples = bootstrap ?? TrialBootstrap(trialCount: trials.count)
    ranks = (configurations ?? published).map {
      ConfigurationRank($0, of: encounters, others: others, samples)
    }.sorted(by: ConfigurationRank.areInOrder)
    positives = encounters.phones.count { $0.phone.outcome == .high }
    negatives = encounters.phones.count { $0.phone.outcome == .none }
    self.encounters = encounters
    self.options = options
    self.bootstrap = samples
  }

  /// The largest change of an area with the other transmit power of iPhones, and its configuration; nil without areas.
  package var largestEffectOfIPhonePower: (change: Double, configuration: String)? {
    let changes = ranks.compactMap { rank -> (change: Double, configuration: String)? in
      guard let area = rank.areaUnderCurve, let other = rank.areaWithOtherPower else { return nil }
      return (abs(other - area), rank.configuration.name)
    }
    return changes.max { $0.change < $1.change }
  }
}

/// The performance of one configuration: high alerts against no alerts.
package struct ConfigurationRank: Sendable {
  /// The configuration.
  package let configuration: TrialConfiguration
  /// The scores of all phones, in the order of the encounters.
  package let scores: [Double]
  /// The scores of the phones with a high alert and of those without alert.
  package let phones: [ScoredPhone]
  /// The area under the curve; nil if one of the groups is empty.
  package let areaUnderCurve: Double?
  /// The confidence interval of the area.
  package let interval: AreaInterval?
  /// The area with the alerts as labelled, before their correction.
  package let labelledArea: Double?
  /// The area with the other transmit power of iPhones.
  package let areaWithOtherPower: Double?
  /// The errors at the configuration's own threshold; nil if it has none.
  package let errors: AlertErrors?

  init(
    _ configuration: TrialConfiguration, of encounters: TrialEncounters, others: TrialEncounters,
    _ bootstrap: TrialBootstrap
  ) {
    let scores = encounters.scores(by: configuration)
    let phones = encounters.compared(scores, by: \.outcome)
    let pairs = TrialPairs(phones, trialCount: encounters.trialCount)
    self.configuration = configuration
    self.scores = scores
    self.phones = phones
    areaUnderCurve = pairs.area
    interval = bootstrap.interval(of: pairs)
    let labelled = encounters.compared(scores, by: \.labelledOutcome)
    labelledArea = TrialPairs(labelled, trialCount: encounters.trialCount).area
    let other = others.compared(others.scores(by: configuration), by: \.outcome)
    areaWithOtherPower = TrialPairs(other, trialCount: others.trialCount).area
    errors = configuration.alert.map { AlertErrors(of: phones, at: $0) }
  }

  /// Sorts by descending area, then by name.
  static func areInOrder(_ left: ConfigurationRank, _ right: ConfigurationRank) -> Bool {
    let (first, second) = (left.areaUnderCurve ?? 0, right.areaUnderCurve ?? 0)
    return first == second ? left.configuration.name < right.configuration.name : first > second
  }
}

extension TrialEncounters {
  /// The scores of all phones.
  func scores(by configuration: TrialConfiguration) -> [Double] {
    phones.map { configuration.scoring.score(of: $0.encounter) }
  }

  /// The phones with a high alert and those without alert.
  func compared(
    _ scores: [Double], by outcome: (TrialPhone) -> TrialOutcome
  ) -> [ScoredPhone] {
    zip(phones, scores).compactMap { phone, score -> ScoredPhone? in
      switch outcome(phone.phone) {
      case .high: ScoredPhone(trial: phone.trial, isPositive: true, score: score)
      case .none: ScoredPhone(trial: phone.trial, isPositive: false, score: score)
      case .low, .sick: nil
      }
    }
  }
}
