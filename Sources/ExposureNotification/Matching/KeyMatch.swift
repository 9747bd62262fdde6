import ExposureKeys
import Foundation

/// A published key and what was heard of its owner, in the order of time.
package struct KeyMatch: Hashable, Sendable {
  /// The key.
  package var key: DiagnosisKey
  /// What was heard, earliest first.
  package private(set) var sightings: [MatchedSighting]

  /// A match with these sightings, in any order.
  package init(key: DiagnosisKey, sightings: [MatchedSighting]) {
    self.key = key
    self.sightings = sightings.sorted(by: MatchedSighting.inOrderOfTime)
  }

  /// What is left of the match after both rules; nil where nothing is.
  package var credible: KeyMatch? {
    let sightings = ReplayRule.kept(of: sightings.filter(PlausibilityRule.isKept))
    return sightings.isEmpty ? nil : KeyMatch(key: key, sightings: sightings)
  }

  /// Whole days from the start of the key to `now`.
  func age(at now: Date) -> Int {
    let days = now.timeIntervalSince(key.key.rollingStart.date) / Day.seconds
    return Int(min(max(days.rounded(.down), 0), Double(Int32.max)))
  }
}

/// A sighting that a published key explains.
package struct MatchedSighting: Hashable, Sendable {
  /// What was heard.
  package let scanned: ScannedSighting
  /// The interval the identifier belongs to, which the sender's clock showed.
  package let sentIn: IntervalNumber
  /// What the sender said about its radio. Nothing vouches for it.
  package let metadata: BluetoothMetadata

  /// A sighting of an identifier of `sentIn` with its metadata opened.
  package init(_ scanned: ScannedSighting, sentIn: IntervalNumber, metadata: BluetoothMetadata) {
    self.scanned = scanned
    self.sentIn = sentIn
    self.metadata = metadata
  }

  /// When it was heard.
  package var time: Date { scanned.sighting.time }
  /// What was lost on the way (Documentation/RiskScoring.md 1.6).
  package var attenuation: Attenuation {
    Attenuation(
      transmitPower: metadata.transmitPower, signalStrength: scanned.sighting.signalStrength)
  }

  /// How far the transmit power can be relied on. Senders before version 1.1 do not say; the least
  /// that is known of them is their maker's average.
  package var calibrationConfidence: ENCalibrationConfidence {
    metadata.calibrationConfidence.flatMap(ENCalibrationConfidence.init) ?? .low
  }
}

extension MatchedSighting {
  /// By time; at the same moment the stronger first, so that the order never depends on the input's.
  static func inOrderOfTime(_ left: MatchedSighting, _ right: MatchedSighting) -> Bool {
    (left.time, left.attenuation) < (right.time, right.attenuation)
  }
}

/// Drops sightings whose opened metadata no real phone would send.
///
/// Nothing authenticates the metadata: whoever relays a beacon can flip its bits, for instance to
/// make a far phone look near (Documentation/RiskScoring.md 1.4).
package enum PlausibilityRule {
  /// The protocol's major version.
  package static let majorVersion: UInt8 = 1

  /// Whether the metadata is of this protocol and states a transmit power that phones have.
  package static func isKept(_ sighting: MatchedSighting) -> Bool {
    sighting.metadata.majorVersion == majorVersion
      && BluetoothMetadata.plausibleTransmitPower.contains(sighting.metadata.transmitPower)
  }
}

/// Drops sightings of an identifier long after it was first heard: its owner has changed it since,
/// so somebody else repeats it (Documentation/RiskScoring.md 1.5).
package enum ReplayRule {
  /// The longest time that a phone may send one identifier, in seconds: 20 minutes.
  package static let identifierLifetime: TimeInterval = 20 * 60

  /// The sightings that are near enough to the first one of the same identifier.
  package static func kept(of sightings: [MatchedSighting]) -> [MatchedSighting] {
    let first = sightings.reduce(into: [IntervalNumber: Date]()) { first, sighting in
      first[sighting.sentIn] = min(first[sighting.sentIn] ?? sighting.time, sighting.time)
    }
    return sightings.filter { sighting in
      guard let start = first[sighting.sentIn] else { return false }
      return sighting.time.timeIntervalSince(start) <= identifierLifetime
    }
  }
}
