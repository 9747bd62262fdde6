import ExposureKeys
import ExposureNotification
import Foundation

/// What one phone heard of the sick person's during a trial, as matches of the framework.
///
/// Everything after the match is the framework's own: the rules on plausible metadata and replays,
/// the scan before, the windows, the incidents (Documentation/FieldTrials.md 2).
package struct Encounter: Sendable {
  /// With a sighting for each sample, as version 2 takes them: it forms scans itself.
  package let bySample: [KeyMatch]
  /// With a sighting for each scan, as version 1 takes them: it has no scans.
  package let byScan: [KeyMatch]
  /// When the trial ended, which is when the scores are asked for.
  package let end: Date

  init(of phone: TrialPhone, in trial: FieldTrial, signal: SignalReading) {
    let span = trial.span(onTheClockOf: phone.log)
    let beacons = Dictionary(
      trial.sickBeacons.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    let offset = signal == .uncorrected ? phone.log.receiverOffset ?? 0 : 0
    func matches(_ strengths: (LoggedSighting) -> [Int8]) -> [KeyMatch] {
      let sightings = phone.log.sightings.flatMap { row in
        strengths(row).map {
          Sighting(
            advertisement: row.advertisement,
            time: row.time.date.addingTimeInterval(phone.clockOffset),
            signalStrength: Int8(clamping: Int($0) + Int(offset)))
        }
      }
      return Self.matches(of: beacons, in: ScannedSighting.inOrder(sightings), during: span)
    }
    bySample = matches(\.signalStrengths)
    byScan = matches { [$0.meanStrength] }
    end = span.upperBound
  }

  private static func matches(
    of beacons: [RollingProximityIdentifier: SentBeacon], in scanned: [ScannedSighting],
    during span: ClosedRange<Date>
  ) -> [KeyMatch] {
    let heard = scanned.compactMap { scanned -> (DiagnosisKey, MatchedSighting)? in
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
    return Dictionary(grouping: heard, by: \.0).compactMap { key, pairs in
      KeyMatch(key: key, sightings: pairs.map(\.1)).credible
    }
  }
}

extension LoggedSighting {
  /// The mean of the scan, in whole dBm.
  fileprivate var meanStrength: Int8 {
    let sum = signalStrengths.reduce(0) { $0 + Int($1) }
    let mean = Double(sum) / Double(signalStrengths.count)
    return Int8(clamping: Int(mean.rounded(.toNearestOrAwayFromZero)))
  }
}
