// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The device's retention periods, intervals and quotas.
package enum DeviceLimit {
  /// Days before today for which own keys and contacts are kept.
  package static let retentionDays: UInt32 = 14
  /// Polling interval of the radio's power state, in seconds.
  package static let powerCheckSeconds: TimeInterval = 300
  /// Calls of detectExposures in 24 hours, API version 1.
  package static let detectionsPerDayVersion1 = 15
  /// Calls of detectExposures in 24 hours, API version 2.
  package static let detectionsPerDayVersion2 = 6
  /// Calls of detectExposures in 24 hours.
  package static func detectionsPerDay(ofVersion version: Int) -> Int {
    version == 2 ? detectionsPerDayVersion2 : detectionsPerDayVersion1
  }

  /// New key files in 24 hours under the rules of iOS 13.5.
  package static let newFilesPerDay = 15
  /// Calls in 24 hours that are not counted because their files were refused.
  package static let refundsPerDay = 30
  /// Digests of key files that are kept, so that lost matches can be restored from the same files.
  package static let analysedFiles = 5_000
  /// Shortest time in seconds between two changes of the infectiousness map: a week.
  package static let mapChangeSeconds: TimeInterval = 7 * 86_400
  /// Validity in seconds of consent given in advance: five days.
  package static let preAuthorizationSeconds: TimeInterval = 5 * 86_400
  /// Default limit of sightings that a detection holds in memory: all that the retention period
  /// may hold, today and tomorrow included.
  package static let sightingsPerDetection =
    (Int(retentionDays) + 2) * ContactLimit.sightingsPerDay
  /// Keys of earlier detections that are kept for the next ones.
  package static let retainedKeys = 20_000
}

/// The rotation of beacons.
package enum BeaconLimit {
  /// Seconds after which identifier, metadata and address change: more than ten minutes and less
  /// than twenty (Exposure Notification Bluetooth Specification 1.2.2, "Privacy").
  package static let rotationSeconds = 601...1199
}

/// The number of sightings that are kept.
package enum ContactLimit {
  /// Sightings of one scan. Only a flood of false beacons exceeds it.
  package static let sightingsPerScan = 10_000
  /// Sightings of one identifier in one scan. A phone sends fewer during the longest scan.
  package static let copiesPerIdentifier = 100
  /// Sightings of one day: a scan every four minutes among 600 phones.
  package static let sightingsPerDay = 220_000
  /// Sightings of one day after which each scan gets only a part of what is left, so that a flood in one hour
  /// leaves space for the meetings of the others.
  package static let unrationedPerDay = sightingsPerDay / 2
  /// The part of the remaining sightings of a rationed day that one scan gets.
  static let rationOfRest = 100
  /// The sightings that a scan of a rationed day gets at least.
  static let leastRation = 16
  /// Scans of one day whose times are stored: one every 30 seconds. The sightings of others are stored
  /// without it.
  package static let scansPerDay = 2_880

  /// The number of `received` sightings of one scan that are kept on a day that already has `kept`.
  static func admitted(_ received: Int, after kept: Int) -> Int {
    let rest = max(0, sightingsPerDay - kept)
    let ration = kept < unrationedPerDay ? rest : min(rest, max(rest / rationOfRest, leastRation))
    return min(received, sightingsPerScan, ration)
  }
}
