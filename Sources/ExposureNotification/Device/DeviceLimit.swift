import Foundation

/// How long a phone keeps things and how often it looks around.
package enum DeviceLimit {
  /// For how many days before today own keys and contacts are kept.
  package static let retentionDays: UInt32 = 14
  /// How long a radio that was switched on or off may go unnoticed, in seconds.
  package static let powerCheckSeconds: TimeInterval = 300
  /// Calls of detectExposures in 24 hours, API version 1.
  package static let detectionsPerDayVersion1 = 15
  /// Calls of detectExposures in 24 hours, API version 2.
  package static let detectionsPerDayVersion2 = 6
  /// Key files not seen before in 24 hours, under the rules of iOS 13.5.
  package static let newFilesPerDay = 15
  /// How often the map of infectiousness may change: once in this many seconds, a week.
  package static let mapChangeSeconds: TimeInterval = 7 * 86_400
  /// For how long the person's word ahead of time counts, in seconds: five days.
  package static let preAuthorizationSeconds: TimeInterval = 5 * 86_400
  /// Sightings that a detection holds in memory at once, unless the device was told otherwise: all
  /// that the retention period may hold, today and tomorrow included.
  package static let sightingsPerDetection =
    (Int(retentionDays) + 2) * ContactLimit.sightingsPerDay
  /// Keys of earlier detections that are kept to be scored again.
  package static let keptKeys = 20_000
}
