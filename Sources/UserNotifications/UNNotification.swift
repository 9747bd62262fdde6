import Foundation

/// A notification that comes up or is shown.
open class UNNotification: NSObject {
  /// When it came up.
  open private(set) var date: Date
  /// What was asked for.
  open private(set) var request: UNNotificationRequest

  init(request: UNNotificationRequest, date: Date) {
    self.request = request
    self.date = date
  }
}
