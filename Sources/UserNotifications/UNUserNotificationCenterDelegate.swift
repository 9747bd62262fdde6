/// What an app says about its notifications while it runs. Each method is optional; an app writes the
/// form with a handler or the one that is awaited.
public protocol UNUserNotificationCenterDelegate: AnyObject {
  /// A notification comes while the app is in front: how it is shown; not at all by default.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler:
      @escaping (UNNotificationPresentationOptions) -> Void)

  /// The person has tapped or dismissed a notification.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)

  /// The first, awaited.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions

  /// The second, awaited.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async
}

extension UNUserNotificationCenterDelegate {
  /// Asks the awaited form.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler:
      @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    let (delegate, notification) = (Handoff(self), Handoff(notification))
    let handler = Handoff(completionHandler)
    Task { @MainActor in
      let options = await delegate.value.userNotificationCenter(
        center, willPresent: notification.value)
      handler.value(options)
    }
  }

  /// Asks the awaited form.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    let (delegate, response) = (Handoff(self), Handoff(response))
    let handler = Handoff(completionHandler)
    Task { @MainActor in
      await delegate.value.userNotificationCenter(center, didReceive: response.value)
      handler.value()
    }
  }

  /// Shows nothing.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions { [] }

  /// Does nothing.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async {}
}
