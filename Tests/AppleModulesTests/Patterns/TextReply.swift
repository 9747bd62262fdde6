// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// An action with a field for text, and one with an icon.
enum TextReply {
  static let answer = UNTextInputNotificationAction(
    identifier: "answer", title: "Answer", options: .authenticationRequired,
    textInputButtonTitle: "Send", textInputPlaceholder: "How are you?")

  @available(iOS 15.0, *)
  static var pictured: UNNotificationAction {
    UNTextInputNotificationAction(
      identifier: "pictured", title: "Answer", options: [],
      icon: UNNotificationActionIcon(templateImageName: "pen"), textInputButtonTitle: "Send",
      textInputPlaceholder: "")
  }

  static var all: [UNNotificationAction] { [answer, pictured] }
}
