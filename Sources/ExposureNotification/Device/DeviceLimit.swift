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
}
