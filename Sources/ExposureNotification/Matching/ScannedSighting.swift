// SPDX-License-Identifier: Apache-2.0
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

  /// Returns `sightings` sorted by time, each with its previous scan.
  ///
  /// `scanTimes` are the starts of all scans, in any order; a recording may lack those of scans without a
  /// sighting, or all.
  package static func inOrder(
    _ sightings: [Sighting], scanTimes: [Date] = []
  ) -> [ScannedSighting] {
    let scanTimes = scanTimes.sorted()
    var next = scanTimes.startIndex
    var scans = ScanSequence()
    return sightings.sorted { $0.time < $1.time }.map { sighting in
      while next < scanTimes.endIndex, scanTimes[next] <= sighting.time {
        scans.add(scanTimes[next])
        next += 1
      }
      scans.add(sighting.time)
      return ScannedSighting(sighting, previousScan: scans.previous)
    }
  }
}

/// The last two scans in a sequence of times. A time within `ScannedSighting.scanDuration` of the start of
/// a scan belongs to it.
private struct ScanSequence {
  private var current: Date?
  private(set) var previous: Date?

  mutating func add(_ time: Date) {
    if let current, time.timeIntervalSince(current) <= ScannedSighting.scanDuration { return }
    (previous, current) = (current, time)
  }
}
