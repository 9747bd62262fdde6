import ExposureNotification

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
