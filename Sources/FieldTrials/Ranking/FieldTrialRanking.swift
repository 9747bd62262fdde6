// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import ExposureNotification
import Foundation

/// The published configurations, ranked by how well their scores predict the phones' alerts.
///
/// Documentation/FieldTrials.md, "Ranking", describes the method.
package struct FieldTrialRanking: Sendable {
  /// The number of phones with a high alert.
  package let positives: Int
  /// The number of phones without an alert.
  package let negatives: Int
  /// The configurations, best first.
  package let ranks: [ConfigurationRank]

  /// Scores all compared phones with all configurations.
  ///
  /// - Throws: The framework's error for a configuration that is out of range.
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
    self.ranks = ranks.sorted(by: ConfigurationRank.areInOrder)
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

/// The performance of one configuration: high alerts against no alerts.
package struct ConfigurationRank: Sendable {
  /// The configuration.
  package let configuration: PublishedConfiguration
  /// The area under the curve; nil if one of the groups is empty.
  package let areaUnderCurve: Double?

  /// Sorts by descending area, then by name.
  static func areInOrder(_ left: ConfigurationRank, _ right: ConfigurationRank) -> Bool {
    let (first, second) = (left.areaUnderCurve ?? 0, right.areaUnderCurve ?? 0)
    return first == second ? left.configuration.name < right.configuration.name : first > second
  }
}

/// Computes the one number of an encounter on which an app bases its decision.
package struct EncounterScoring: Sendable {
  private let version: Version

  private enum Version {
    case exposures(ExposureScoringV1)
    case windows(WindowRules, WindowScoring)
  }

  /// - Throws: The framework's error if `published` is out of range.
  package init(_ published: PublishedConfiguration) throws(ENError) {
    let configuration = published.exposureConfiguration
    version =
      switch published.rule {
      case .exposures: .exposures(try ExposureScoringV1(configuration))
      case .windows:
        .windows(try WindowRules(configuration), try WindowScoring(configuration))
      }
  }

  /// The score. Version 1: the highest score of an exposure, 0...4,096. Version 2: the highest sum of a
  /// day, in weighted seconds.
  package func score(of encounter: Encounter) -> Double {
    switch version {
    case .exposures(let scoring):
      let result = scoring.result(of: encounter.matches, now: encounter.end)
      return Double(result.found.maximumScore.fullRange)
    case .windows(let rules, let scoring):
      let windows = encounter.matches.flatMap(rules.windows)
      let days = scoring.days(of: windows, today: encounter.end)
      return days.map(\.total.scoreSum.double).max() ?? 0
    }
  }
}

/// The beacons of sick participants that one phone received during a trial, as matches of the framework.
///
/// From the match on, all rules are the framework's own: plausibility, replays, windows and incidents.
package struct Encounter: Sendable {
  /// The matches, with a sighting for each sample.
  package let matches: [KeyMatch]
  /// The end of the trial, which is the time of scoring.
  package let end: Date

  init(of phone: TrialPhone, in trial: FieldTrial, signal: SignalReading) {
    let span = trial.span(inTimeZoneOf: phone.log)
    let beacons = Dictionary(
      trial.sickBeacons.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    let offset = signal == .uncorrected ? phone.log.receiverOffset ?? 0 : 0
    let sightings = phone.log.sightings.flatMap { row in
      row.signalStrengths.map {
        Sighting(
          advertisement: row.advertisement,
          time: row.time.date.addingTimeInterval(phone.clockOffset), signalStrength: $0
        ).corrected(by: offset)
      }
    }
    matches = Self.matches(of: beacons, in: ScannedSighting.inOrder(sightings), during: span)
    end = span.upperBound
  }

  private static func matches(
    of beacons: [RollingProximityIdentifier: SentBeacon], in scanned: [ScannedSighting],
    during span: ClosedRange<Date>
  ) -> [KeyMatch] {
    let received = scanned.compactMap { scanned -> (DiagnosisKey, MatchedSighting)? in
      let sighting = scanned.sighting
      guard let beacon = beacons[sighting.advertisement.identifier], span.contains(sighting.time),
        let interval = IntervalNumber(sighting.time),
        interval.distance(to: beacon.interval) <= Matcher.toleranceIntervals
      else { return nil }
      return (
        beacon.key,
        MatchedSighting(scanned, sentIn: beacon.interval, metadata: beacon.metadata)
      )
    }
    return Dictionary(grouping: received, by: \.0).compactMap { key, pairs in
      KeyMatch(key: key, sightings: pairs.map(\.1)).credible
    }
  }
}

/// A beacon that a sick participant's phone sent.
struct SentBeacon {
  let identifier: RollingProximityIdentifier
  let interval: IntervalNumber
  let metadata: BluetoothMetadata
  let key: DiagnosisKey
}

extension FieldTrial {
  /// The beacons of all participants who were marked sick.
  var sickBeacons: [SentBeacon] {
    phones.filter { $0.outcome == .sick }.enumerated().flatMap { index, phone in
      phone.sentBeacons(phoneNumber: index)
    }
  }
}

extension TrialPhone {
  /// The sent beacons with known identifier and transmit power.
  fileprivate func sentBeacons(phoneNumber: Int) -> [SentBeacon] {
    let rows = Dictionary(grouping: log.advertisements, by: \.keyNumber)
    return rows.flatMap { number, rows -> [SentBeacon] in
      guard let first = rows.map(\.interval).min(),
        let key = Self.placeholderKey(phoneNumber, number, first.startOfDay)
      else { return [] }
      return rows.compactMap { row in
        guard let identifier = row.identifier,
          let metadata = row.metadata
            ?? assumedTransmitPower.map(BluetoothMetadata.init(transmitPower:))
        else { return nil }
        return SentBeacon(
          identifier: identifier, interval: row.interval, metadata: metadata, key: key)
      }
    }
  }

  /// A placeholder for a key, since the log only numbers the keys. The log lists its identifiers, so none
  /// are derived from it.
  private static func placeholderKey(
    _ phoneNumber: Int, _ keyNumber: Int, _ start: IntervalNumber
  ) -> DiagnosisKey? {
    let numbers = [UInt64(phoneNumber), UInt64(keyNumber)].flatMap { number in
      withUnsafeBytes(of: number.bigEndian, Array.init)
    }
    return TemporaryExposureKey(bytes: numbers, rollingStart: start).flatMap {
      DiagnosisKey(key: $0, reportType: .confirmedTest)
    }
  }
}

/// The kind of signal strengths in a recording.
package enum SignalReading: String, Sendable {
  /// Corrected for the receiver's antenna, as Android logs them.
  case corrected
  /// As received by the antenna: the receiver's offset must be added.
  case uncorrected
}

/// The share of pairs, one of each group, in which the first group's member scores higher. A tie counts
/// half; 1 is perfect, 0.5 is chance.
///
/// It equals the area under the receiver operating characteristic (the Mann-Whitney U divided by the
/// number of pairs).
package enum AreaUnderCurve {
  /// Returns nil if a group is empty.
  package static func of(positives: [Double], negatives: [Double]) -> Double? {
    guard !positives.isEmpty, !negatives.isEmpty else { return nil }
    let sorted = negatives.sorted()
    let halves = positives.reduce(0) { sum, score in
      let below = sorted.partitioningIndex { $0 >= score }
      let notAbove = sorted.partitioningIndex { $0 > score }
      return sum + below + notAbove
    }
    return Double(halves) / 2 / (Double(positives.count) * Double(negatives.count))
  }
}

extension [Double] {
  /// The first index whose element satisfies `predicate`, in an array in which all later ones do too.
  fileprivate func partitioningIndex(where predicate: (Double) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
