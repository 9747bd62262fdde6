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

/// How well one configuration tells the phones that raised a high alert from those that raised none.
package struct ConfigurationRank: Sendable {
  /// The configuration.
  package let configuration: PublishedConfiguration
  /// The area under the curve; nil where one of the groups is empty.
  package let areaUnderCurve: Double?

  /// The better first; those that are equal by name.
  static func best(_ left: ConfigurationRank, _ right: ConfigurationRank) -> Bool {
    let (first, second) = (left.areaUnderCurve ?? 0, right.areaUnderCurve ?? 0)
    return first == second ? left.configuration.name < right.configuration.name : first > second
  }
}

/// One number for an encounter, by which an app would decide (Documentation/FieldTrials.md 3.2).
package struct EncounterScoring: Sendable {
  private let version: Version

  private enum Version {
    case exposures(ExposureScoring)
    case windows(WindowRules, WindowScoring)
  }

  /// Takes over `published`; throws what the framework says where it is out of range.
  package init(_ published: PublishedConfiguration) throws(ENError) {
    let configuration = published.exposureConfiguration
    version =
      switch published.rule {
      case .exposures: .exposures(try ExposureScoring(configuration))
      case .windows:
        .windows(try WindowRules(configuration), try WindowScoring(configuration))
      }
  }

  /// Version 1: the highest score of an exposure, 0...4,096. Version 2: the highest sum of a day,
  /// in weighted seconds.
  package func score(of encounter: Encounter) -> Double {
    switch version {
    case .exposures(let scoring):
      let result = scoring.result(of: encounter.byScan, now: encounter.end)
      return Double(result.found.maximumScore.fullRange)
    case .windows(let rules, let scoring):
      let windows = encounter.bySample.flatMap(rules.windows)
      let days = scoring.days(of: windows, today: encounter.end)
      return days.map(\.total.scoreSum).max() ?? 0
    }
  }
}

/// How well scores tell two groups apart: the share of pairs, one of each group, in which the first
/// group's scores higher; a tie counts half. 1 is perfect, 0.5 is a coin.
///
/// It equals the area under the receiver operating characteristic (Mann and Whitney's U over the
/// number of pairs).
package enum AreaUnderCurve {
  /// Nil where a group is empty: there are no pairs.
  package static func of(positives: [Double], negatives: [Double]) -> Double? {
    guard !positives.isEmpty, !negatives.isEmpty else { return nil }
    let sorted = negatives.sorted()
    let halves = positives.reduce(0) { sum, score in
      let below = sorted.partitionIndex { $0 >= score }
      let notAbove = sorted.partitionIndex { $0 > score }
      return sum + below + notAbove
    }
    return Double(halves) / 2 / (Double(positives.count) * Double(negatives.count))
  }
}

extension [Double] {
  /// The first index whose element satisfies `predicate`, in an array where all later ones do too.
  fileprivate func partitionIndex(where predicate: (Double) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
