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

/// A beacon of the sick person's phone: what a match would know of it.
struct SentBeacon {
  let identifier: RollingProximityIdentifier
  let interval: IntervalNumber
  let metadata: BluetoothMetadata
  let key: DiagnosisKey
}

extension FieldTrial {
  /// The beacons of everybody who was marked sick.
  var sickBeacons: [SentBeacon] {
    phones.filter { $0.outcome == .sick }.enumerated().flatMap { index, phone in
      phone.sentBeacons(phoneNumber: index)
    }
  }
}

extension TrialPhone {
  /// What it sent, where identifier and power are known (Documentation/FieldTrials.md 2.1).
  fileprivate func sentBeacons(phoneNumber: Int) -> [SentBeacon] {
    let rows = Dictionary(grouping: log.advertisements, by: \.keyNumber)
    return rows.flatMap { number, rows -> [SentBeacon] in
      guard let first = rows.map(\.interval).min(),
        let key = Self.standIn(phoneNumber, number, first.startOfDay)
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

  /// A key in the place of one that the log only numbers. Nothing is derived from it: the log says
  /// which identifiers it had.
  private static func standIn(
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

/// What the signal strengths of a recording are (Documentation/FieldTrials.md 2.3).
package enum SignalReading: String, Sendable {
  /// As Android logs them: corrected for the receiver's antenna already.
  case corrected
  /// As the antenna heard them: the receiver's offset is still to be added.
  case uncorrected
}
