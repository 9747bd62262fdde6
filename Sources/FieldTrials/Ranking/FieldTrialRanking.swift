import ExposureNotification

/// The configurations by how well their scores foretell what the phones told their owners.
///
/// Documentation/FieldTrials.md 3.
package struct FieldTrialRanking: Sendable {
  /// Phones that raised a high alert.
  package let positives: Int
  /// Phones that raised none.
  package let negatives: Int
  /// The configurations, best first.
  package let ranks: [ConfigurationRank]

  /// Scores every phone that is compared by every configuration. Throws what the framework says of
  /// a configuration that is out of range.
  package init(
    of trials: [FieldTrial],
    by configurations: [PublishedConfiguration] = PublishedConfiguration.all,
    signal: SignalReading = .corrected
  ) throws(ENError) {
    let high = Self.encounters(of: trials, outcome: .high, signal)
    let none = Self.encounters(of: trials, outcome: .none, signal)
    var ranks: [ConfigurationRank] = []
    for configuration in configurations {
      let scoring = try EncounterScoring(configuration)
      let area = AreaUnderCurve.of(
        positives: high.map(scoring.score), negatives: none.map(scoring.score))
      ranks.append(ConfigurationRank(configuration: configuration, areaUnderCurve: area))
    }
    positives = high.count
    negatives = none.count
    self.ranks = ranks.sorted(by: ConfigurationRank.best)
  }

  private static func encounters(
    of trials: [FieldTrial], outcome: TrialOutcome, _ signal: SignalReading
  ) -> [Encounter] {
    trials.flatMap { trial in
      trial.phones.filter { $0.isCompared && $0.outcome == outcome }.map {
        Encounter(of: $0, in: trial, signal: signal)
      }
    }
  }
}
