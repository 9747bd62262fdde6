// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// Changes the text of notifications from the server.
final class PushExtension: UNNotificationServiceExtension {
  private var contentHandler: ((UNNotificationContent) -> Void)?
  private var content: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    self.contentHandler = contentHandler
    content = request.content.mutableCopy() as? UNMutableNotificationContent
    content?.body += " (checked)"
    guard request.content.userInfo["wait"] == nil else { return }
    deliver()
  }

  override func serviceExtensionTimeWillExpire() { deliver() }

  private func deliver() {
    if let content { contentHandler?(content) }
    contentHandler = nil
  }
}
