// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The calls of the center that the app makes; its tests replace them.
protocol NotificationScheduling: AnyObject {
  func add(
    _ request: UNNotificationRequest, withCompletionHandler completionHandler: ((Error?) -> Void)?)
  func getPendingNotificationRequests(
    completionHandler: @escaping ([UNNotificationRequest]) -> Void)
  func removePendingNotificationRequests(withIdentifiers identifiers: [String])
  func removeDeliveredNotifications(withIdentifiers identifiers: [String])
  func requestAuthorization(
    options: UNAuthorizationOptions, completionHandler: @escaping (Bool, Error?) -> Void)
}

extension UNUserNotificationCenter: NotificationScheduling {}

/// Removes the pending notifications whose identifiers begin with `prefix`.
func cancel(prefix: String, in center: NotificationScheduling, done: @escaping (Int) -> Void) {
  center.getPendingNotificationRequests { requests in
    let found = requests.map { $0.identifier }.filter { $0.hasPrefix(prefix) }
    center.removePendingNotificationRequests(withIdentifiers: found)
    done(found.count)
  }
}
