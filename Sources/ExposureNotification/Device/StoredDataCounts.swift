import ExposureKeys
import Foundation

/// The amounts of data that a device stores about its owner's encounters.
package struct StoredDataCounts: Hashable, Sendable {
  /// The own keys.
  package let ownKeys: Int
  /// The received beacons by the start of their day, 00:00 UTC.
  package let sightings: [Date: Int]
}

extension Device {
  /// Counts the stored keys and sightings; it reads all of them.
  ///
  /// - Throws: `ENError`, or an error of the storage.
  package func storedDataCounts() async throws -> StoredDataCounts {
    let keys = try await beacons.keyCount()
    let sightings = try await contacts.received().sightings
    let days = Dictionary(grouping: sightings) { sighting in
      let seconds = sighting.time.timeIntervalSince1970
      return Date(timeIntervalSince1970: (seconds / Day.seconds).rounded(.down) * Day.seconds)
    }
    return StoredDataCounts(ownKeys: keys, sightings: days.mapValues(\.count))
  }
}
