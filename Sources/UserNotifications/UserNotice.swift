// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A notification as the sink sees it.
public struct UserNotice: Hashable, Sendable {
  /// The app's identifier of the notification.
  public let identifier: String
  /// The first line; may be empty.
  public let title: String
  /// The second line; may be empty.
  public let subtitle: String
  /// The text; may be empty.
  public let body: String
  /// The number on the app's icon; nil leaves it unchanged.
  public let badge: Int?
  /// The sound; nil for none.
  public let sound: UserNoticeSound?
  /// The pictures, sounds and films.
  public let attachments: [UserNoticeAttachment]
  /// The identifier of the category; empty for none.
  public let categoryIdentifier: String
  /// The identifier of the group in the list of notifications.
  public let threadIdentifier: String
  /// The identifier of the part of the app that the notification opens.
  public let targetContentIdentifier: String?
  /// The importance.
  public let interruptionLevel: UNNotificationInterruptionLevel
  /// The place in the summary of the app's notifications, 0 to 1.
  public let relevanceScore: Double
  /// The actions of the category. Empty for a pending notification: they are looked up when it is shown.
  public let actions: [UserNoticeAction]
  /// The delay in seconds; nil for immediate delivery and for a time of the calendar.
  public let delay: TimeInterval?
  /// The components that the time of delivery matches; nil for immediate delivery and for a delay.
  public let dateComponents: DateComponents?
  /// True if it is shown again after each `delay`, or at each later match of `dateComponents`.
  public let repeats: Bool
  /// The time of the next delivery; nil if it is immediate, or if no later time matches `dateComponents`.
  public let due: Date?

  /// True if there is a sound.
  public var hasSound: Bool { sound != nil }
}

extension UserNotice {
  init(
    _ request: UNNotificationRequest, due: Date? = nil, category: UNNotificationCategory? = nil
  ) {
    let content = request.content
    let isCritical = content.interruptionLevel == .critical
    self.init(
      identifier: request.identifier, title: content.title, subtitle: content.subtitle,
      body: content.body, badge: content.badge?.intValue,
      sound: content.sound?.value ?? (isCritical ? UserNoticeSound(isCritical: true) : nil),
      attachments: content.attachments.map {
        UserNoticeAttachment(identifier: $0.identifier, url: $0.url, type: $0.type)
      },
      categoryIdentifier: content.categoryIdentifier, threadIdentifier: content.threadIdentifier,
      targetContentIdentifier: content.targetContentIdentifier,
      interruptionLevel: content.interruptionLevel, relevanceScore: content.relevanceScore,
      actions: (category?.actions ?? []).prefix(UserNotificationLimit.actions).map(\.value),
      delay: (request.trigger as? UNTimeIntervalNotificationTrigger)?.timeInterval,
      dateComponents: (request.trigger as? UNCalendarNotificationTrigger)?.dateComponents,
      repeats: request.trigger?.repeats ?? false, due: due)
  }

  /// True if the notification is shown as soon as it is added.
  var isImmediate: Bool { delay == nil && dateComponents == nil }
}

/// An action of a notification as the sink sees it.
public struct UserNoticeAction: Hashable, Sendable {
  /// A field for text.
  public struct TextInput: Hashable, Sendable {
    /// The text of the button that sends the text.
    public let buttonTitle: String
    /// The text of the empty field.
    public let placeholder: String
  }

  /// The app's identifier of the action, with which the sink calls
  /// `UNUserNotificationCenter.respond(to:with:text:)`.
  public let identifier: String
  /// The text of the button.
  public let title: String
  /// The behavior. The sink brings the app to the foreground and asks the user to unlock the phone.
  public let options: UNNotificationActionOptions
  /// The name of the icon; nil for none.
  public let iconName: String?
  /// The field for text; nil for a plain button.
  public let textInput: TextInput?
}

/// An attachment of a notification as the sink sees it.
public struct UserNoticeAttachment: Hashable, Sendable {
  /// The app's identifier of the attachment.
  public let identifier: String
  /// The file, which stays where the app has it.
  public let url: URL
  /// The uniform type identifier of the file.
  public let type: String
}

/// The sound of a notification as the sink sees it.
public struct UserNoticeSound: Hashable, Sendable {
  /// The name of the file; nil for the default sound.
  public let name: String?
  /// True if a muted phone plays it too.
  public let isCritical: Bool
  /// True if it plays as long as a ringtone.
  public let isRingtone: Bool
  /// The volume, 0 to 1; nil for the phone's.
  public let volume: Float?

  init(
    name: String? = nil, isCritical: Bool = false, isRingtone: Bool = false, volume: Float? = nil
  ) {
    self.name = name
    self.isCritical = isCritical
    self.isRingtone = isRingtone
    self.volume = volume
  }
}

/// The limits of the notification center; the figures are Apple's.
public enum UserNotificationLimit {
  /// The number of pending notifications. The soonest are kept, and a repeating one counts once.
  public static let pending = 64
  /// The number of actions of a notification.
  public static let actions = 10
}
