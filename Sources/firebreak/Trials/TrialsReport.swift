// SPDX-License-Identifier: Apache-2.0
import FieldTrials
import TextEncodings

/// The result of `firebreak trials`, as `--json` prints it.
struct TrialsReport: Encodable {
  private let trials: Int
  private let phones: Int
  private let phonesByOutcome: [String: Int]
  private let phonesByLabelledOutcome: [String: Int]
  private let alertsCorrected: Int
  private let phonesCompared: Int
  private let advertisements: Int
  private let identifiersSeen: Int
  private let sightings: Int
  private let samples: Int
  private let samplesImplausible: Int
  private let linesSkipped: Int
  private let filesUnreadable: Int
  private let filesIgnored: Int
  /// The numbers of dropped phones, beacons and samples, by reason.
  private let dropped: [String: Int]
  /// The source of the transmit power of iPhones: `setup` or `log`.
  private let iPhonePower: String
  private let seed: UInt64
  private let bootstrapSamples: Int
  private let configurations: [RankReport]
  /// Absent without `--sweep` and with `--learn`.
  private let sweep: SweepReport?
  /// Absent without `--learn`.
  private let learned: LearnedReport?

  init(_ results: TrialsResults) {
    let (counts, ranking) = (results.counts, results.ranking)
    trials = counts.trials
    phones = counts.phones
    phonesByOutcome = Self.named(counts.phonesByOutcome)
    phonesByLabelledOutcome = Self.named(counts.phonesByLabelledOutcome)
    alertsCorrected = counts.alertsCorrected
    phonesCompared = ranking.encounters.phones.count
    advertisements = counts.advertisements
    identifiersSeen = counts.identifiersSeen
    sightings = counts.sightings
    samples = counts.samples
    samplesImplausible = counts.samplesImplausible
    linesSkipped = counts.linesSkipped
    filesUnreadable = counts.filesUnreadable
    filesIgnored = counts.filesIgnored
    dropped = Dictionary(
      uniqueKeysWithValues: TrialLoss.allCases.map {
        ($0.rawValue, ranking.encounters.losses[$0, default: 0])
      })
    iPhonePower = ranking.options.iPhonePower.rawValue
    seed = ranking.bootstrap.seed
    bootstrapSamples = ranking.bootstrap.sampleCount
    configurations = ranking.ranks.map { RankReport($0, ranking) }
    sweep = results.sweep.map { SweepReport($0, skipped: results.grid?.skipped ?? 0) }
    learned = results.learned.map { LearnedReport($0) }
  }

  private static func named(_ counts: [TrialOutcome: Int]) -> [String: Int] {
    Dictionary(
      uniqueKeysWithValues: TrialOutcome.allCases.map { ($0.rawValue, counts[$0, default: 0]) })
  }
}

/// A configuration in JSON. Undefined figures are null, not absent.
struct RankReport: Encodable {
  private let name: String
  private let source: String
  private let apiVersion: Int
  @Nullable private var auc: Double?
  @Nullable private var aucLow: Double?
  @Nullable private var aucHigh: Double?
  private let positives: Int
  private let negatives: Int
  /// The area with the alerts as labelled, before their correction.
  @Nullable private var aucLabelled: Double?
  /// The area with the other transmit power of iPhones.
  @Nullable private var aucOtherIPhonePower: Double?
  @Nullable private var alertScore: Double?
  private let alertScoreIsAssumed: Bool
  @Nullable private var falseAlerts: Int?
  @Nullable private var missedAlerts: Int?

  init(_ rank: ConfigurationRank, _ ranking: FieldTrialRanking) {
    name = rank.configuration.name
    source = rank.configuration.source
    apiVersion = rank.configuration.apiVersion
    positives = ranking.positives
    negatives = ranking.negatives
    alertScoreIsAssumed = rank.configuration.alert?.isAssumed ?? false
    auc = rank.areaUnderCurve
    aucLow = rank.interval?.low
    aucHigh = rank.interval?.high
    aucLabelled = rank.labelledArea
    aucOtherIPhonePower = rank.areaWithOtherPower
    alertScore = rank.configuration.alert?.score
    falseAlerts = rank.errors?.falseAlerts
    missedAlerts = rank.errors?.missedAlerts
  }
}

/// A sweep in JSON.
struct SweepReport: Encodable {
  private struct Row: Encodable {
    let thresholds: [Int]
    let weights: [Double]
    @Nullable var auc: Double?
    @Nullable var aucLow: Double?
    @Nullable var aucHigh: Double?
  }

  private let combinations: Int
  /// Combinations whose thresholds do not ascend.
  private let skipped: Int
  /// Best first. Only the first ones have intervals.
  private let rows: [Row]

  init(_ sweep: SweepResult, skipped: Int) {
    combinations = sweep.rows.count
    self.skipped = skipped
    rows = sweep.rows.map {
      Row(
        thresholds: $0.point.thresholds, weights: $0.point.weights, auc: $0.area,
        aucLow: $0.interval?.low, aucHigh: $0.interval?.high)
    }
  }
}

/// The result of `--learn` in JSON.
struct LearnedReport: Encodable {
  private struct Fold: Encodable {
    let heldOutTrial: String
    let phones: Int
    let thresholds: [Int]
    let weights: [Double]
    let alertScore: Double
  }

  private let combinations: Int
  @Nullable private var heldOutAuc: Double?
  @Nullable private var heldOutAucLow: Double?
  @Nullable private var heldOutAucHigh: Double?
  private let falseAlerts: Int
  private let missedAlerts: Int
  private let folds: [Fold]

  init(_ learned: LearnedConfiguration) {
    combinations = learned.pointCount
    falseAlerts = learned.errors.falseAlerts
    missedAlerts = learned.errors.missedAlerts
    folds = learned.folds.map {
      Fold(
        heldOutTrial: $0.trial, phones: $0.phoneCount, thresholds: $0.point.thresholds,
        weights: $0.point.weights, alertScore: $0.threshold)
    }
    heldOutAuc = learned.heldOutArea
    heldOutAucLow = learned.interval?.low
    heldOutAucHigh = learned.interval?.high
  }
}
