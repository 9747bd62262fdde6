// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Shows an app's notifications, as Apple's system does. A program on Linux implements it.
///
/// All members except `ask(for:)` are called on the app's queue and must return at once.
public protocol UserNotificationSink: Sendable {
  /// The current time, which becomes the date of notifications.
  var now: Date { get }

  /// True if the app is in the foreground; its delegate then decides what is shown.
  var isAppInForeground: Bool { get }

  /// The options that the user has allowed: empty if the user declined, nil before the first request.
  /// The sink stores them.
  var allowedOptions: UNAuthorizationOptions? { get }

  /// Asks the user and stores the decision; returns the allowed options, empty if the user declines.
  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions

  /// Shows `notice` and replaces an earlier one with the same identifier.
  func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions)

  /// Removes the shown notifications with these identifiers.
  func remove(_ identifiers: [String])

  /// Called with all pending notifications after each change. The sink calls
  /// `UNUserNotificationCenter.deliver(_:)` when one is due.
  func pendingNoticesChanged(_ pending: [UserNotice])
}

/// A notification as the sink sees it.
public struct UserNotice: Hashable, Sendable {
  /// The app's identifier of the notification.
  public let identifier: String
  /// The first line; may be empty.
  public let title: String
  /// The second line; may be empty.
  public let subtitle: String
  /// The text; may be empty.
  public let body: String
  /// The number on the app's icon; nil leaves it unchanged.
  public let badge: Int?
  /// True if there is a sound.
  public let hasSound: Bool
  /// The delay in seconds; nil for immediate delivery.
  public let delay: TimeInterval?
  /// True if it is shown again after each `delay`.
  public let repeats: Bool
}

extension UserNotice {
  init(_ request: UNNotificationRequest) {
    let (content, trigger) = (
      request.content, request.trigger as? UNTimeIntervalNotificationTrigger
    )
    self.init(
      identifier: request.identifier, title: content.title, subtitle: content.subtitle,
      body: content.body, badge: content.badge?.intValue, hasSound: content.sound != nil,
      delay: trigger?.timeInterval, repeats: trigger?.repeats ?? false)
  }

  var request: UNNotificationRequest {
    let content = UNMutableNotificationContent()
    content.title = title
    content.subtitle = subtitle
    content.body = body
    content.badge = badge.map { NSNumber(value: $0) }
    content.sound = hasSound ? .default : nil
    let trigger = delay.map {
      UNTimeIntervalNotificationTrigger(timeInterval: $0, repeats: repeats)
    }
    return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
  }
}
