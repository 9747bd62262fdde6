// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The notification settings of an app.
open class UNNotificationSettings: NSObject, NSCopying {
  /// The user's decision about notifications.
  open private(set) var authorizationStatus: UNAuthorizationStatus
  /// True if the app has its own notification settings, which the system's settings open.
  open private(set) var providesAppNotificationSettings: Bool
  private let allowed: UNAuthorizationOptions

  init(
    status: UNAuthorizationStatus, allowed: UNAuthorizationOptions,
    providesAppNotificationSettings: Bool = false
  ) {
    authorizationStatus = status
    self.allowed = allowed
    self.providesAppNotificationSettings = providesAppNotificationSettings
  }

  /// The setting for sounds.
  open var soundSetting: UNNotificationSetting { loud(.sound) }
  /// The setting for the number on the app's icon.
  open var badgeSetting: UNNotificationSetting { setting(.badge) }
  /// The setting for alerts.
  open var alertSetting: UNNotificationSetting { loud(.alert) }
  /// The setting for the list of notifications.
  open var notificationCenterSetting: UNNotificationSetting { setting(.alert) }
  /// The setting for notifications on a locked screen.
  open var lockScreenSetting: UNNotificationSetting { loud(.alert) }
  /// The setting for CarPlay.
  open var carPlaySetting: UNNotificationSetting { special(.carPlay) }
  /// The form of alerts.
  open var alertStyle: UNAlertStyle { alertSetting == .enabled ? .banner : .none }
  /// The time at which the text of a notification is shown.
  open var showPreviewsSetting: UNShowPreviewsSetting { .always }
  /// The setting for sounds that a muted phone plays too.
  open var criticalAlertSetting: UNNotificationSetting { special(.criticalAlert) }
  /// The setting for notifications that a voice reads out.
  open var announcementSetting: UNNotificationSetting { special(.announcement) }
  /// The setting for notifications that a focus lets through.
  open var timeSensitiveSetting: UNNotificationSetting { special(.timeSensitive) }
  /// The setting for the summary of notifications. Not supported on Linux.
  open var scheduledDeliverySetting: UNNotificationSetting { .notSupported }
  /// The setting for messages of persons. Not supported on Linux.
  open var directMessagesSetting: UNNotificationSetting { .notSupported }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationSettings else { return false }
    return authorizationStatus == other.authorizationStatus && allowed == other.allowed
      && providesAppNotificationSettings == other.providesAppNotificationSettings
  }

  open override var hash: Int { allowed.hashValue }

  private func setting(_ option: UNAuthorizationOptions) -> UNNotificationSetting {
    allowed.contains(option) ? .enabled : .disabled
  }

  /// A kind of notification that is off while notifications are quiet.
  private func loud(_ option: UNAuthorizationOptions) -> UNNotificationSetting {
    authorizationStatus == .provisional ? .disabled : setting(option)
  }

  /// A kind of notification that most programs do not support.
  private func special(_ option: UNAuthorizationOptions) -> UNNotificationSetting {
    allowed.contains(option) ? .enabled : .notSupported
  }
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

/// The state of one kind of notification.
public enum UNNotificationSetting: Int, Sendable {
  /// Not supported.
  case notSupported = 0
  /// Turned off by the user.
  case disabled = 1
  /// Turned on.
  case enabled = 2
}

/// The form of alerts.
public enum UNAlertStyle: Int, Sendable {
  /// No alerts.
  case none = 0
  /// Alerts that disappear.
  case banner = 1
  /// Alerts that wait for the user.
  case alert = 2
}

/// The time at which the text of a notification is shown.
public enum UNShowPreviewsSetting: Int, Sendable {
  /// Always.
  case always = 0
  /// While the phone is unlocked.
  case whenAuthenticated = 1
  /// Never.
  case never = 2
}
