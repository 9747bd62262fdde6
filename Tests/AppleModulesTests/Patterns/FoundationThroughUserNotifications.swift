// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// A notification after a delay. The file has no import of Foundation.
struct DelayedNotice {
  let text: String
  var identifier = UUID().uuidString
  var delay: TimeInterval = 60

  func schedule(on queue: DispatchQueue = .main, done: @escaping (Date) -> Void) {
    let content = UNMutableNotificationContent()
    content.body = text
    let trigger = UNTimeIntervalNotificationTrigger(timeInterval: delay, repeats: false)
    let request = UNNotificationRequest(
      identifier: identifier, content: content, trigger: trigger)
    UNUserNotificationCenter.current().add(request) { _ in queue.async { done(Date()) } }
  }
}
