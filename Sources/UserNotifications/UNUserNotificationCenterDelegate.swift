// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app's decisions about its notifications while it runs, on the main queue.
///
/// Each method is optional; an app implements either the form with a handler or the async form.
public protocol UNUserNotificationCenterDelegate: AnyObject {
  /// Called for a notification while the app is in the foreground; the handler receives the parts to
  /// show. By default nothing is shown.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler:
      @escaping (UNNotificationPresentationOptions) -> Void)

  /// Called after the user has tapped a notification, chosen an action, or dismissed a notification whose category has
  /// `.customDismissAction`.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)

  /// Called when the user opens the app's notification settings: from `notification`, or from the system's settings
  /// if it is nil. The app has requested `.providesAppNotificationSettings`.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)

  /// The async form of the first method.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions

  /// The async form of the second method.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async
}

extension UNUserNotificationCenterDelegate {
  /// Calls the async form.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler:
      @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    // All are used on the main actor only, as on Apple's systems.
    nonisolated(unsafe) let (delegate, notification) = (self, notification)
    nonisolated(unsafe) let handler = completionHandler
    Task { @MainActor in
      let options = await delegate.userNotificationCenter(center, willPresent: notification)
      handler(options)
    }
  }

  /// Calls the async form.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    nonisolated(unsafe) let (delegate, response) = (self, response)
    nonisolated(unsafe) let handler = completionHandler
    Task { @MainActor in
      await delegate.userNotificationCenter(center, didReceive: response)
      handler()
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

  /// Does nothing.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
  ) {}
}
