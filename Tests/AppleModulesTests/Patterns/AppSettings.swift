// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The app's own page of notification settings, which the system opens.
final class SettingsOpener: NSObject, UNUserNotificationCenterDelegate {
  static let options: UNAuthorizationOptions = [.alert, .sound, .providesAppNotificationSettings]
  private(set) var opened: [String?] = []
  var onOpen: () -> Void = {}

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
  ) {
    opened.append(notification?.request.identifier)
    onOpen()
  }
}
