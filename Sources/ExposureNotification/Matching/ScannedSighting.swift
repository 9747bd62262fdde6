import ExposureKeys
import Foundation

/// A sighting with the time of the previous scan, if known.
package struct ScannedSighting: Hashable, Sendable {
  package let sighting: Sighting
  /// The time of the previous scan, whether or not it received anything.
  package let previousScan: Date?

  package init(_ sighting: Sighting, previousScan: Date? = nil) {
    self.sighting = sighting
    self.previousScan = previousScan
  }
}

extension ScannedSighting {
  /// The duration in seconds within which sightings belong to one scan: one and a half times a scan of 4
  /// seconds with a delay of up to 13.
  package static let scanDuration: TimeInterval = 1.5 * (4 + 13)

  /// Returns `sightings` sorted by time, each with the previous scan that received anything.
  ///
  /// A scan without sightings is not stored, so the previous scan may appear earlier than it was.
  package static func inOrder(_ sightings: [Sighting]) -> [ScannedSighting] {
    var scan: Date?
    var previous: Date?
    return sightings.sorted { $0.time < $1.time }.map { sighting in
      if let start = scan, sighting.time.timeIntervalSince(start) <= scanDuration {
        return ScannedSighting(sighting, previousScan: previous)
      }
      (previous, scan) = (scan, sighting.time)
      return ScannedSighting(sighting, previousScan: previous)
    }
  }
}
