import ExposureKeys
import Foundation

/// A sighting with the moment of the scan before the one that heard it, where the phone knows it.
package struct ScannedSighting: Hashable, Sendable {
  /// What was heard, when and how strongly.
  package let sighting: Sighting
  /// When the phone had scanned before, whether it heard anything or not.
  package let previousScan: Date?

  /// A sighting of a scan that followed one at `previousScan`.
  package init(_ sighting: Sighting, previousScan: Date? = nil) {
    self.sighting = sighting
    self.previousScan = previousScan
  }
}

extension ScannedSighting {
  /// Sightings of one scan lie at most this many seconds after its first: one and a half times a
  /// scan of 4 seconds with the 13 it may be late.
  package static let scanDuration: TimeInterval = 1.5 * (4 + 13)

  /// `sightings` in the order of time, each with the latest scan before its own that heard anybody.
  ///
  /// A scan that heard nobody leaves no trace, so the scan before may seem longer ago than it was
  /// (Documentation/RiskScoring.md 7.4).
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
