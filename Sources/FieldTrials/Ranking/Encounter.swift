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
