// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A request to show a notification.
open class UNNotificationRequest: NSObject, NSCopying {
  /// The app's identifier of the notification.
  open private(set) var identifier: String
  /// A copy of the content at the time of the request; later changes of the app's object do not reach it.
  open private(set) var content: UNNotificationContent
  /// The time; nil for immediately.
  open private(set) var trigger: UNNotificationTrigger?

  /// A request to show `content` at the time of `trigger`, immediately without one.
  public init(
    identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?
  ) {
    self.identifier = identifier
    self.content = UNNotificationContent(content.fields)
    self.trigger = trigger
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationRequest else { return false }
    return identifier == other.identifier && content == other.content && trigger == other.trigger
  }

  open override var hash: Int { identifier.hashValue }

  /// The first time after `date` at which the trigger fires; nil if there is none, or if it is immediate.
  func nextDate(after date: Date) -> Date? {
    switch trigger {
    case let trigger as UNTimeIntervalNotificationTrigger:
      date.addingTimeInterval(trigger.timeInterval)
    case let trigger as UNCalendarNotificationTrigger:
      UNCalendarNotificationTrigger.nextDate(matching: trigger.dateComponents, after: date)
    default: nil
    }
  }
}
