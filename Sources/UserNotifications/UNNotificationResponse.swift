// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The user's response to a notification.
open class UNNotificationResponse: NSObject, NSCopying {
  /// The notification.
  open private(set) var notification: UNNotification
  /// The identifier of the chosen action. `UNNotificationDefaultActionIdentifier` for a tap,
  /// `UNNotificationDismissActionIdentifier` for a dismissal.
  open private(set) var actionIdentifier: String

  init(notification: UNNotification, actionIdentifier: String) {
    self.notification = notification
    self.actionIdentifier = actionIdentifier
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The user's response to an action with a field for text.
open class UNTextInputNotificationResponse: UNNotificationResponse {
  /// The text that the user sent.
  open private(set) var userText: String

  init(notification: UNNotification, actionIdentifier: String, userText: String) {
    self.userText = userText
    super.init(notification: notification, actionIdentifier: actionIdentifier)
  }
}

/// The user has tapped the notification.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The user has dismissed the notification.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"
