import Foundation

/// Some time after the request.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
  /// How long after, in seconds.
  open private(set) var timeInterval: TimeInterval

  /// After `timeInterval` seconds, and then each time they have passed where it `repeats`.
  public init(timeInterval: TimeInterval, repeats: Bool) {
    self.timeInterval = timeInterval
    super.init(repeats: repeats)
  }
}
