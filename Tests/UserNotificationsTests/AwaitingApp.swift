import UserNotifications

/// An app's delegate, in the awaited form.
final class AwaitingApp: UNUserNotificationCenterDelegate {
  let taps: AsyncStream<String>
  private let tap: AsyncStream<String>.Continuation

  init() {
    (taps, tap) = AsyncStream.makeStream()
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions {
    [.banner]
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async {
    tap.yield(response.notification.request.content.title)
  }
}
