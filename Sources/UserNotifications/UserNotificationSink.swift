import Foundation

/// Who shows an app's notifications: the part of Apple's system that a program on Linux provides.
///
/// All but the question to the person is called from the app's queue and returns at once.
public protocol UserNotificationSink: Sendable {
  /// The time that notifications carry.
  var now: Date { get }

  /// Whether the person looks at the app just now; then its delegate decides what is shown.
  var isAppInForeground: Bool { get }

  /// What the person has allowed, empty after a no, nil before the first question. The sink
  /// remembers it.
  var allowedOptions: UNAuthorizationOptions? { get }

  /// Puts the question to the person and remembers the answer; empty for a no.
  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions

  /// Shows `notice`, in place of an earlier one of the same identifier.
  func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions)

  /// Takes what is shown under these identifiers away.
  func remove(_ identifiers: [String])

  /// All that waits for its time now. The sink calls `UNUserNotificationCenter.deliver(_:)` then.
  func pendingNoticesChanged(_ pending: [UserNotice])
}
