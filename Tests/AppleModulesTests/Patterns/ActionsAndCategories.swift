// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The actions of a reminder, registered at launch.
enum ReminderActions {
  static let later = "later"
  static let delete = "delete"
  static let open = "open"

  static func register(in center: UNUserNotificationCenter = .current()) {
    let actions = [
      UNNotificationAction(identifier: later, title: "In an hour", options: []),
      UNNotificationAction(
        identifier: delete, title: "Delete", options: [.destructive, .authenticationRequired]),
      UNNotificationAction(
        identifier: open, title: "Open", options: UNNotificationActionOptions(rawValue: 1 << 2)),
    ]
    let reminder = UNNotificationCategory(
      identifier: "reminder", actions: actions, intentIdentifiers: [],
      options: [.customDismissAction, .hiddenPreviewsShowTitle])
    let result = UNNotificationCategory(
      identifier: "result", actions: [], intentIdentifiers: [],
      hiddenPreviewsBodyPlaceholder: "A result", options: .allowInCarPlay)
    center.setNotificationCategories([reminder, result])
  }
}
