// SPDX-License-Identifier: Apache-2.0

/// The kinds of notification that an app requests.
public struct UNAuthorizationOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  /// The options whose bits are set.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// A number on the app's icon.
  public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
  /// Sounds.
  public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
  /// Alerts with text.
  public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
  /// Notifications in CarPlay.
  public static let carPlay = UNAuthorizationOptions(rawValue: 1 << 3)
  /// Sounds also while the phone is muted.
  public static let criticalAlert = UNAuthorizationOptions(rawValue: 1 << 4)
  /// A link to the app's own notification settings.
  public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 1 << 5)
  /// Quiet notifications, without asking the user.
  public static let provisional = UNAuthorizationOptions(rawValue: 1 << 6)
  /// Notifications that a voice reads out.
  public static let announcement = UNAuthorizationOptions(rawValue: 1 << 7)
  /// Notifications that a focus lets through.
  public static let timeSensitive = UNAuthorizationOptions(rawValue: 1 << 8)
}
