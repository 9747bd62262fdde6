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

  /// Asks the user and stores the decision; returns the allowed options, empty if the user declines. With
  /// `.provisional` Apple's system allows the options without asking.
  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions

  /// Shows `notice` and replaces an earlier one with the same identifier.
  ///
  /// The sink calls `UNUserNotificationCenter.respond(to:with:text:)` when the user taps the notification, dismisses
  /// it or chooses one of its actions.
  func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions)

  /// Removes the shown notifications with these identifiers.
  func remove(_ identifiers: [String])

  /// Called with all pending notifications after each change. The sink calls
  /// `UNUserNotificationCenter.deliver(_:)` when one is `due`.
  func pendingNoticesChanged(_ pending: [UserNotice])

  /// Shows `count` on the app's icon; 0 removes the number. Does nothing by default.
  func setBadge(_ count: Int)
}

extension UserNotificationSink {
  /// Does nothing.
  public func setBadge(_ count: Int) {}
}
