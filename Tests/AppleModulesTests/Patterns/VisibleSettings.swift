// SPDX-License-Identifier: Apache-2.0
import UserNotifications

extension UNNotificationSettings {
  /// A text about what the user sees.
  var summary: String {
    guard authorizationStatus == .authorized else { return "off" }
    let places = [lockScreenSetting, notificationCenterSetting].filter { $0 == .enabled }.count
    let style = alertStyle == .none ? "quiet" : "\(alertStyle.rawValue)"
    let isPrivate = showPreviewsSetting == .never || criticalAlertSetting == .disabled
    return "\(places) places, style \(style)\(isPrivate ? ", private" : "")"
  }
}

func readSummary(_ done: @escaping (String) -> Void) {
  UNUserNotificationCenter.current().getNotificationSettings { done($0.summary) }
}
