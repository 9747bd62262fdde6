// SPDX-License-Identifier: Apache-2.0
import UserNotifications

extension UNNotificationRequest {
  /// The next date of the request; nil for one from a server and for one without a date.
  var nextDate: Date? {
    if trigger is UNPushNotificationTrigger { return nil }
    if let trigger = trigger as? UNTimeIntervalNotificationTrigger {
      return trigger.nextTriggerDate()
    }
    return (trigger as? UNCalendarNotificationTrigger)?.nextTriggerDate()
  }
}
