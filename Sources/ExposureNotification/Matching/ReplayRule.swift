import ExposureKeys
import Foundation

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
