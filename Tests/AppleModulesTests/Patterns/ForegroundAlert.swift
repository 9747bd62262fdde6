// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// A scene that decides by category which notifications appear over it.
final class ForegroundScene: NSObject {
  private(set) var presented: [String] = []

  func start(in center: UNUserNotificationCenter) { center.delegate = self }
}

extension ForegroundScene: UNUserNotificationCenterDelegate {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions {
    presented.append(notification.request.identifier)
    return notification.request.content.categoryIdentifier == "silent" ? [] : [.list, .sound]
  }
}
