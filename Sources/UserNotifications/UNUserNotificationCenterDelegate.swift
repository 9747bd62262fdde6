// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app's decisions about its notifications while it runs. Each method is optional; an app implements
/// either the form with a handler or the async form.
public protocol UNUserNotificationCenterDelegate: AnyObject {
  /// Called for a notification while the app is in the foreground; the handler receives the parts to
  /// show. By default nothing is shown.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler:
      @escaping (UNNotificationPresentationOptions) -> Void)

  /// Called after the user has tapped or dismissed a notification.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)

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
}

/// A notification that is delivered.
open class UNNotification: NSObject {
  /// The date of delivery.
  open private(set) var date: Date
  /// The app's request.
  open private(set) var request: UNNotificationRequest

  init(request: UNNotificationRequest, date: Date) {
    self.request = request
    self.date = date
  }
}

/// The user's response to a notification.
open class UNNotificationResponse: NSObject {
  /// The notification.
  open private(set) var notification: UNNotification
  /// `UNNotificationDefaultActionIdentifier` for a tap, `UNNotificationDismissActionIdentifier` for a
  /// dismissal.
  open private(set) var actionIdentifier: String

  init(notification: UNNotification, actionIdentifier: String) {
    self.notification = notification
    self.actionIdentifier = actionIdentifier
  }
}

/// The user has tapped the notification.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The user has dismissed the notification.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

/// The parts of a notification that are shown while the app is in the foreground.
public struct UNNotificationPresentationOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  /// The options whose bits are set.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The number on the app's icon.
  public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
  /// The sound.
  public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
  /// Banner and list, as before iOS 14.
  public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
  /// The entry in the list of notifications.
  public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
  /// The banner.
  public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}
