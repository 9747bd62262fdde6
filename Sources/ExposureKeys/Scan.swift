// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A scan of the radio with all beacons that it received, possibly none.
///
/// The time between two scans is the weight of the later one, so a scan without sightings counts, too. A
/// radio that never stops scanning divides the time into scans of at most 17 seconds every few minutes:
/// beacons that are more than 25 seconds apart count as two scans.
public struct Scan: Hashable, Sendable {
  /// The start of the scan.
  public let time: Date
  /// The received beacons, in any order. A beacon that was received several times occurs as often.
  public let sightings: [Sighting]

  /// Creates a scan that began at `time`.
  public init(time: Date, sightings: [Sighting]) {
    self.time = time
    self.sightings = sightings
  }
}
