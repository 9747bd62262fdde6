import Foundation

/// What the person did with a notification.
open class UNNotificationResponse: NSObject {
  /// The notification.
  open private(set) var notification: UNNotification
  /// `UNNotificationDefaultActionIdentifier` for a tap, `UNNotificationDismissActionIdentifier` for a
  /// dismissal.
  open private(set) var actionIdentifier: String

  init(notification: UNNotification, actionIdentifier: String) {
    self.notification = notification
    self.actionIdentifier = actionIdentifier
  }
}
