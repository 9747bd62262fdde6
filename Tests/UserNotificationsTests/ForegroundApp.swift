import UserNotifications

/// An app's delegate, in the form with handlers.
final class ForegroundApp: UNUserNotificationCenterDelegate {
  let answers: AsyncStream<String>
  private let answer: AsyncStream<String>.Continuation
  private let options: UNNotificationPresentationOptions

  init(shows options: UNNotificationPresentationOptions) {
    self.options = options
    (answers, answer) = AsyncStream.makeStream()
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler:
      @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler(options)
    answer.yield("present \(notification.request.identifier)")
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    answer.yield("\(response.actionIdentifier) \(response.notification.request.identifier)")
    completionHandler()
  }
}
