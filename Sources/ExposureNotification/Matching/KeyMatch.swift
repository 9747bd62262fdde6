import ExposureKeys
import Foundation

/// A published key with its sightings, sorted by time.
package struct KeyMatch: Hashable, Sendable {
  package var key: DiagnosisKey
  package private(set) var sightings: [MatchedSighting]

  /// Creates a match; `sightings` may be in any order.
  package init(key: DiagnosisKey, sightings: [MatchedSighting]) {
    self.key = key
    self.sightings = sightings.sorted(by: MatchedSighting.inOrderOfTime)
  }

  /// The match without implausible and replayed sightings; nil if none is left.
  package var credible: KeyMatch? {
    let sightings = ReplayRule.filtered(sightings.filter(PlausibilityRule.accepts))
    return sightings.isEmpty ? nil : KeyMatch(key: key, sightings: sightings)
  }

  /// The number of whole days from the start of the key to `now`.
  func age(at now: Date) -> Int {
    let days = now.timeIntervalSince(key.key.rollingStart.date) / Day.seconds
    return Int(min(max(days.rounded(.down), 0), Double(Int32.max)))
  }
}

/// A sighting of a published key's identifier.
package struct MatchedSighting: Hashable, Sendable {
  package let scanned: ScannedSighting
  /// The interval of the identifier, by the sender's clock.
  package let sentIn: IntervalNumber
  /// The decrypted metadata. It is not authenticated.
  package let metadata: BluetoothMetadata

  package init(_ scanned: ScannedSighting, sentIn: IntervalNumber, metadata: BluetoothMetadata) {
    self.scanned = scanned
    self.sentIn = sentIn
    self.metadata = metadata
  }

  package var time: Date { scanned.sighting.time }
  package var attenuation: Attenuation {
    Attenuation(
      transmitPower: metadata.transmitPower, signalStrength: scanned.sighting.signalStrength)
  }

  /// The reliability of the transmit power. Senders before version 1.1 do not state it; `low`, the
  /// manufacturer's average, is assumed for them.
  package var calibrationConfidence: ENCalibrationConfidence {
    metadata.calibrationConfidence.flatMap { ENCalibrationConfidence(rawValue: $0.rawValue) }
      ?? .low
  }
}

extension MatchedSighting {
  /// Sorts by time, then by attenuation, so that the result does not depend on the input's order.
  static func inOrderOfTime(_ left: MatchedSighting, _ right: MatchedSighting) -> Bool {
    (left.time, left.attenuation) < (right.time, right.attenuation)
  }
}

/// Rejects sightings with metadata that no real device sends.
///
/// The metadata is not authenticated. An attacker who relays a beacon can flip its bits, for example to
/// make a distant device look near.
package enum PlausibilityRule {
  package static let majorVersion: UInt8 = 1

  /// True if the metadata has this protocol's major version and a plausible transmit power.
  package static func accepts(_ sighting: MatchedSighting) -> Bool {
    sighting.metadata.majorVersion == majorVersion
      && BluetoothMetadata.plausibleTransmitPower.contains(sighting.metadata.transmitPower)
  }
}

/// Rejects sightings of an identifier that was first received more than 20 minutes earlier. Its sender has
/// changed the identifier since, so a later sighting is a replay.
package enum ReplayRule {
  /// The longest time that a device uses one identifier, in seconds.
  package static let identifierLifetime: TimeInterval = 20 * 60

  /// Returns the sightings within the lifetime of their identifier.
  package static func filtered(_ sightings: [MatchedSighting]) -> [MatchedSighting] {
    let first = sightings.reduce(into: [IntervalNumber: Date]()) { first, sighting in
      first[sighting.sentIn] = min(first[sighting.sentIn] ?? sighting.time, sighting.time)
    }
    return sightings.filter { sighting in
      guard let start = first[sighting.sentIn] else { return false }
      return sighting.time.timeIntervalSince(start) <= identifierLifetime
    }
  }
}
