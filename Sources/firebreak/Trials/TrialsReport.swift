import FieldTrials

/// The one JSON object of `trials --json`.
struct TrialsReport: Encodable {
  private struct Configuration: Encodable {
    let name: String
    let source: String
    let apiVersion: Int
    let auc: Double?
    let positives: Int
    let negatives: Int

    /// An area that cannot be told is null, not absent.
    func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: CodingKeys.self)
      try object.encode(name, forKey: .name)
      try object.encode(source, forKey: .source)
      try object.encode(apiVersion, forKey: .apiVersion)
      try object.encode(auc, forKey: .auc)
      try object.encode(positives, forKey: .positives)
      try object.encode(negatives, forKey: .negatives)
    }

    private enum CodingKeys: CodingKey {
      case name, source, apiVersion, auc, positives, negatives
    }
  }

  private let trials: Int
  private let phones: Int
  private let phonesByOutcome: [String: Int]
  private let phonesCompared: Int
  private let advertisements: Int
  private let identifiersSeen: Int
  private let sightings: Int
  private let samples: Int
  private let samplesImplausible: Int
  private let linesSkipped: Int
  private let filesUnreadable: Int
  private let filesIgnored: Int
  private let configurations: [Configuration]

  init(_ counts: FieldTrialCounts, _ ranking: FieldTrialRanking) {
    trials = counts.trials
    phones = counts.phones
    phonesByOutcome = Dictionary(
      uniqueKeysWithValues: TrialOutcome.allCases.map {
        ($0.rawValue, counts.phonesByOutcome[$0, default: 0])
      })
    phonesCompared = counts.phonesCompared
    advertisements = counts.advertisements
    identifiersSeen = counts.identifiersSeen
    sightings = counts.sightings
    samples = counts.samples
    samplesImplausible = counts.samplesImplausible
    linesSkipped = counts.linesSkipped
    filesUnreadable = counts.filesUnreadable
    filesIgnored = counts.filesIgnored
    configurations = ranking.ranks.map {
      Configuration(
        name: $0.configuration.name, source: $0.configuration.source,
        apiVersion: $0.configuration.apiVersion, auc: $0.areaUnderCurve,
        positives: ranking.positives, negatives: ranking.negatives)
    }
  }
}
