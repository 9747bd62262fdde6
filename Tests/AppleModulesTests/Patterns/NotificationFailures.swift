// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The text that the app shows for an error of the center.
func explanation(of error: Error) -> String {
  guard let error = error as? UNError else { return "unknown" }
  switch error.code {
  case .notificationsNotAllowed: return "not allowed"
  case .notificationInvalidNoContent, .notificationInvalidNoDate: return "incomplete"
  case .badgeInputInvalid: return "badge"
  default: return "\(UNErrorDomain) \(error.errorCode) \(error.userInfo.count)"
  }
}
