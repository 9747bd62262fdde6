import Foundation

/// What the person allows an app.
open class UNNotificationSettings: NSObject {
  /// Whether the person was asked and said yes.
  open private(set) var authorizationStatus: UNAuthorizationStatus
  private let allowed: UNAuthorizationOptions

  init(status: UNAuthorizationStatus, allowed: UNAuthorizationOptions) {
    authorizationStatus = status
    self.allowed = allowed
  }

  /// Whether texts are shown.
  open var alertSetting: UNNotificationSetting { setting(.alert) }
  /// Whether there are sounds.
  open var soundSetting: UNNotificationSetting { setting(.sound) }
  /// Whether the icon carries a number.
  open var badgeSetting: UNNotificationSetting { setting(.badge) }
  /// Whether they stay in the list of notifications.
  open var notificationCenterSetting: UNNotificationSetting { setting(.alert) }

  private func setting(_ option: UNAuthorizationOptions) -> UNNotificationSetting {
    allowed.contains(option) ? .enabled : .disabled
  }
}
