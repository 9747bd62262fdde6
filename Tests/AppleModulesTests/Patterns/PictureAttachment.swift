// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// Adds a picture to a notification, or the reason why there is none.
func add(picture url: URL, to content: UNMutableNotificationContent) {
  do {
    content.attachments = [
      try UNNotificationAttachment(
        identifier: "", url: url,
        options: [
          UNNotificationAttachmentOptionsTypeHintKey: "public.jpeg",
          UNNotificationAttachmentOptionsThumbnailHiddenKey: true,
        ])
    ]
  } catch UNError.attachmentInvalidURL {
    content.subtitle = "no picture"
  } catch let error as UNError where error.code == .attachmentInvalidFileSize {
    content.subtitle = "large picture"
  } catch {
    content.subtitle = error.localizedDescription
  }
}
