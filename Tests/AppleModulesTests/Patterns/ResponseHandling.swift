// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The app's reaction to responses, and the log of all calls of the delegate.
final class ResponseHandler: NSObject, UNUserNotificationCenterDelegate {
  private(set) var events: [String] = []
  var onEvent: () -> Void = {}

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    note("present \(notification.request.identifier)")
    if #available(iOS 14.0, *) {
      completionHandler([.banner, .list])
    } else {
      completionHandler([.alert])
    }
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    defer { completionHandler() }
    let content = response.notification.request.content
    switch response.actionIdentifier {
    case UNNotificationDefaultActionIdentifier:
      note("open \(content.userInfo["page"] as? String ?? "start")")
    case UNNotificationDismissActionIdentifier: note("dismiss \(content.categoryIdentifier)")
    default:
      let text = (response as? UNTextInputNotificationResponse)?.userText
      note("\(response.actionIdentifier) \(text ?? content.threadIdentifier)")
    }
  }

  private func note(_ event: String) {
    events.append(event)
    onEvent()
  }
}
