// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// A notification of an app in the form of the Desktop Notifications Specification.
struct DesktopNotification {
  private let notice: UserNotice
  private let options: UNNotificationPresentationOptions
  private let capabilities: Set<String>

  /// The form of `notice` for a service with these capabilities.
  init(
    _ notice: UserNotice, options: UNNotificationPresentationOptions, capabilities: Set<String>
  ) {
    self.notice = notice
    self.options = options
    self.capabilities = capabilities
  }

  /// The arguments of `Notify`. `replaced` is the number of the notification that this one replaces.
  func arguments(appName: String, replacing replaced: UInt32?) -> [DBusValue] {
    let body = [notice.subtitle, notice.body].filter { !$0.isEmpty }.joined(separator: "\n")
    let hasMarkup = capabilities.contains("body-markup")
    return [
      .string(appName), .uint32(replaced ?? 0), .string(""), .string(notice.title),
      .string(hasMarkup ? DesktopNotifications.escaped(body) : body),
      .array("s", actions.flatMap { [.string($0.key), .string($0.title)] }),
      .array("{sv}", hints.map { .entry(.string($0.key), .variant($0.value)) }),
      .int32(DesktopLimit.expiresByDefault),
    ]
  }

  /// A tap comes first; the key of an action is its index.
  private var actions: [(key: String, title: String)] {
    guard capabilities.contains("actions") else { return [] }
    let text = capabilities.contains(Self.textKey) ? Self.textAction(of: notice) : nil
    return [(Self.tapKey, "")]
      + notice.actions.enumerated().compactMap { index, action in
        if action == text { return (Self.textKey, action.title) }
        return action.textInput == nil ? (String(index), action.title) : nil
      }
  }

  private var hints: [(key: String, value: DBusValue)] {
    var hints: [(String, DBusValue)] = [("urgency", .byte(urgency))]
    if notice.sound == nil || !options.contains(.sound) {
      hints.append(("suppress-sound", .boolean(true)))
    }
    if let picture = notice.attachments.first(where: { Self.pictureTypes.contains($0.type) }) {
      hints.append(("image-path", .string(picture.url.path)))
    }
    if let field = Self.textAction(of: notice)?.textInput, capabilities.contains(Self.textKey) {
      hints.append(("x-kde-reply-placeholder-text", .string(field.placeholder)))
      hints.append(("x-kde-reply-submit-button-text", .string(field.buttonTitle)))
    }
    return hints
  }

  /// The specification's urgency: 0 low, which many services show without a banner, 1 normal, 2 critical.
  private var urgency: UInt8 {
    guard !options.isDisjoint(with: [.banner, .alert]) else { return 0 }
    switch notice.interruptionLevel {
    case .passive: return 0
    case .active, .timeSensitive: return 1
    case .critical: return 2
    }
  }
}

extension DesktopNotification {
  /// The specification's key of a tap.
  static let tapKey = "default"
  /// The key of an action with a field for text, and the capability of services that have one.
  private static let textKey = "inline-reply"
  private static let pictureTypes: Set<String> = [
    "public.png", "public.jpeg", "com.compuserve.gif",
  ]

  /// The action whose key a service returned; nil for another key.
  static func action(_ key: String, of notice: UserNotice) -> UserNoticeAction? {
    guard let index = Int(key), notice.actions.indices.contains(index) else { return nil }
    return notice.actions[index]
  }

  /// The action with a field for text. Services have one such field.
  static func textAction(of notice: UserNotice) -> UserNoticeAction? {
    notice.actions.first { $0.textInput != nil }
  }
}
