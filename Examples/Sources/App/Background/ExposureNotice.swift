import Foundation
import UserNotifications

/// Tells the person that there is something new in the list.
final class ExposureNotice {
  static let identifier = "exposure"

  func show() {
    let content = UNMutableNotificationContent()
    content.title = Words.exposureTitle
    content.body = Words.exposureBody
    content.sound = .default
    UNUserNotificationCenter.current().add(
      UNNotificationRequest(identifier: Self.identifier, content: content, trigger: nil))
  }
}
