import Foundation

/// A notification that was shown, and when.
struct DeliveredNotice: Sendable {
  let notice: UserNotice
  let date: Date

  var notification: UNNotification { UNNotification(request: notice.request, date: date) }
}
