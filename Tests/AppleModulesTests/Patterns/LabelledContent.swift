// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The content of a reminder, with all labels.
func reminderContent(page: String, count: Int) -> UNNotificationContent {
  let content = UNMutableNotificationContent()
  content.title = NSString.localizedUserNotificationString(forKey: "reminder", arguments: nil)
  content.body = String(
    NSString.localizedUserNotificationString(forKey: "%@ new", arguments: [count]))
  content.badge = NSNumber(value: count)
  content.categoryIdentifier = "reminder"
  content.threadIdentifier = "reminders"
  content.userInfo = ["page": page, "count": count]
  content.launchImageName = "Launch"
  content.summaryArgument = "health office"
  content.summaryArgumentCount = count
  content.targetContentIdentifier = page
  return content
}
