// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// Reminders at a date or at a time of each day.
enum CalendarReminder {
  static func once(at date: Date, identifier: String) -> UNNotificationRequest {
    let components = Calendar.current.dateComponents(
      [.year, .month, .day, .hour, .minute, .second], from: date)
    return request(identifier, components, repeats: false)
  }

  static func daily(hour: Int, minute: Int) -> UNNotificationRequest {
    var components = DateComponents()
    components.hour = hour
    components.minute = minute
    return request("daily", components, repeats: true)
  }

  private static func request(
    _ identifier: String, _ components: DateComponents, repeats: Bool
  ) -> UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = "Reminder"
    return UNNotificationRequest(
      identifier: identifier, content: content,
      trigger: UNCalendarNotificationTrigger(dateMatching: components, repeats: repeats))
  }
}
