import Foundation

/// A request to show a notification.
open class UNNotificationRequest: NSObject {
  /// The app's identifier of the notification.
  open private(set) var identifier: String
  /// The content.
  open private(set) var content: UNNotificationContent
  /// The time; nil for immediately.
  open private(set) var trigger: UNNotificationTrigger?

  /// A request to show `content` at the time of `trigger`, immediately without one.
  public init(
    identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?
  ) {
    self.identifier = identifier
    self.content = content
    self.trigger = trigger
  }
}

/// The time of a notification. Of Apple's triggers only the time interval exists on Linux.
open class UNNotificationTrigger: NSObject {
  /// True if the notification is shown repeatedly.
  open private(set) var repeats: Bool

  init(repeats: Bool) {
    self.repeats = repeats
  }
}

/// A time interval after the request.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
  /// The interval in seconds.
  open private(set) var timeInterval: TimeInterval

  /// A trigger `timeInterval` seconds after the request, and at the same interval again if it `repeats`.
  public init(timeInterval: TimeInterval, repeats: Bool) {
    self.timeInterval = timeInterval
    super.init(repeats: repeats)
  }
}
