// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The notification settings of an app.
open class UNNotificationSettings: NSObject {
  /// The user's decision about notifications.
  open private(set) var authorizationStatus: UNAuthorizationStatus
  private let allowed: UNAuthorizationOptions

  init(status: UNAuthorizationStatus, allowed: UNAuthorizationOptions) {
    authorizationStatus = status
    self.allowed = allowed
  }

  /// The setting for alerts.
  open var alertSetting: UNNotificationSetting { setting(.alert) }
  /// The setting for sounds.
  open var soundSetting: UNNotificationSetting { setting(.sound) }
  /// The setting for the number on the app's icon.
  open var badgeSetting: UNNotificationSetting { setting(.badge) }
  /// The setting for the list of notifications.
  open var notificationCenterSetting: UNNotificationSetting { setting(.alert) }

  private func setting(_ option: UNAuthorizationOptions) -> UNNotificationSetting {
    allowed.contains(option) ? .enabled : .disabled
  }
}

/// The state of one kind of notification.
public enum UNNotificationSetting: Int, Sendable {
  /// Not supported.
  case notSupported = 0
  /// Turned off by the user.
  case disabled = 1
  /// Turned on.
  case enabled = 2
}

/// The user's decision about notifications.
public enum UNAuthorizationStatus: Int, Sendable {
  /// The user was not asked yet.
  case notDetermined = 0
  /// The user declined.
  case denied = 1
  /// The user agreed.
  case authorized = 2
  /// Quiet notifications, without asking the user.
  case provisional = 3
  /// Allowed for a limited time.
  case ephemeral = 4
}

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
}
