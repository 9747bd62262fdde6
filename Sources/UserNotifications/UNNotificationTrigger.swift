// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time of a notification. Apps create one of the subclasses.
open class UNNotificationTrigger: NSObject, NSCopying {
  /// True if the notification is shown repeatedly.
  open private(set) var repeats: Bool

  init(repeats: Bool) {
    self.repeats = repeats
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationTrigger else { return false }
    return type(of: self) == type(of: other) && repeats == other.repeats
  }

  open override var hash: Int { repeats.hashValue }
}

/// The trigger of a notification that a server has sent. Apps test for it and cannot create it.
open class UNPushNotificationTrigger: UNNotificationTrigger {}

/// A time interval after the request.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
  /// The interval in seconds.
  open private(set) var timeInterval: TimeInterval

  /// The shortest interval of a repeated notification, in seconds.
  private static let shortestRepetition: TimeInterval = 60

  /// A trigger `timeInterval` seconds after the request, and at the same interval again if it `repeats`.
  ///
  /// - Precondition: The interval is above 0, and at least 60 seconds if it repeats.
  public init(timeInterval: TimeInterval, repeats: Bool) {
    precondition(timeInterval > 0, "the time interval must be greater than 0")
    precondition(
      !repeats || timeInterval >= Self.shortestRepetition,
      "the time interval must be at least 60 seconds if it repeats")
    self.timeInterval = timeInterval
    super.init(repeats: repeats)
  }

  /// Returns the current time plus the interval. As on Apple's systems this is not the time of delivery.
  open func nextTriggerDate() -> Date? {
    UNUserNotificationCenter.current().now.addingTimeInterval(timeInterval)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    super.isEqual(object)
      && (object as? UNTimeIntervalNotificationTrigger)?.timeInterval == timeInterval
  }

  open override var hash: Int { timeInterval.hashValue }
}
