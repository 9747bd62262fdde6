// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import ExposureNotification
import Foundation

/// The beacons of sick participants that one phone received during a trial, as matches of the framework.
///
/// From the match on, all rules are the framework's own: plausibility, replays, windows and incidents.
package struct Encounter: Sendable {
  /// The matches, with a sighting for each sample.
  package let matches: [KeyMatch]
  /// The end of the trial, which is the time of scoring.
  package let end: Date
  /// The number of samples that do not count, by reason.
  let losses: [TrialLoss: Int]

  init(of phone: TrialPhone, in trial: FieldTrial, options: TrialOptions = TrialOptions()) {
    self.init(
      of: phone, in: trial, options: options,
      beacons: SentBeacons(of: trial, iPhonePower: options.iPhonePower))
  }

  init(
    of phone: TrialPhone, in trial: FieldTrial, options: TrialOptions, beacons: SentBeacons
  ) {
    let offset = options.signal == .uncorrected ? phone.log.receiverOffset ?? 0 : 0
    let sightings = phone.log.sightings.flatMap { row in
      row.signalStrengths.map {
        Sighting(
          advertisement: row.advertisement,
          time: row.time.date.addingTimeInterval(phone.clockOffset), signalStrength: $0
        ).corrected(by: offset)
      }
    }
    let span = trial.span(inTimeZoneOf: phone.log)
    var received = ReceivedBeacons(beacons.usable, during: span)
    for scanned in ScannedSighting.inOrder(sightings) { received.add(scanned) }
    (matches, losses) = received.credible
    end = span.upperBound
  }
}

/// Collects the sightings of known beacons, and counts those that do not match.
private struct ReceivedBeacons {
  private let beacons: [RollingProximityIdentifier: SentBeacon]
  private let span: ClosedRange<Date>
  private var sightings: [DiagnosisKey: [MatchedSighting]] = [:]
  private var losses: [TrialLoss: Int] = [:]

  init(_ beacons: [SentBeacon], during span: ClosedRange<Date>) {
    self.beacons = Dictionary(
      beacons.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    self.span = span
  }

  mutating func add(_ scanned: ScannedSighting) {
    let sighting = scanned.sighting
    guard let beacon = beacons[sighting.advertisement.identifier] else { return }
    guard span.contains(sighting.time) else {
      losses[.samplesOutsideTrial, default: 0] += 1
      return
    }
    guard let interval = IntervalNumber(sighting.time),
      interval.distance(to: beacon.interval) <= Matcher.toleranceIntervals
    else {
      losses[.samplesWrongInterval, default: 0] += 1
      return
    }
    sightings[beacon.key, default: []].append(
      MatchedSighting(scanned, sentIn: beacon.interval, metadata: beacon.metadata))
  }

  /// The matches that the framework accepts, and the number of all other samples by reason.
  var credible: (matches: [KeyMatch], losses: [TrialLoss: Int]) {
    let matches = sightings.compactMap { key, sightings in
      KeyMatch(key: key, sightings: sightings).credible
    }.sorted {
      ($0.sightings.first?.time ?? span.upperBound) < ($1.sightings.first?.time ?? span.upperBound)
    }
    let all = sightings.values.reduce(0) { $0 + $1.count }
    let replayed = all - matches.reduce(0) { $0 + $1.sightings.count }
    var losses = losses
    if replayed > 0 { losses[.samplesReplayed] = replayed }
    return (matches, losses)
  }
}
