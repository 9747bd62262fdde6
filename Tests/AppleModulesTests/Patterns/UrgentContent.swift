// SPDX-License-Identifier: Apache-2.0
import UserNotifications

extension UNMutableNotificationContent {
  /// Marks the notification as urgent where the system knows this.
  func markUrgent() {
    guard #available(iOS 15.0, *) else { return }
    interruptionLevel = .timeSensitive
    relevanceScore = 1
  }
}
