// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import UserNotifications

/// A sink with a user who makes one decision. It records all calls.
final class TestNotificationSink: UserNotificationSink {
  struct Shown: Hashable, Sendable {
    let notice: UserNotice
    let options: UNNotificationPresentationOptions
  }

  private struct State {
    var allowed: UNAuthorizationOptions?
    var requestCount = 0
    var isAppInForeground = false
    var shown: [Shown] = []
    var pending: [UserNotice] = []
    var removed: [String] = []
    var badges: [Int] = []
    var now = Date(timeIntervalSince1970: 1_592_222_400)
  }

  private let decision: UNAuthorizationOptions
  private let state = Mutex(State())

  init(decision: UNAuthorizationOptions = [.alert, .sound]) {
    self.decision = decision
  }

  var now: Date {
    get { state.withLock(\.now) }
    set { state.withLock { $0.now = newValue } }
  }

  var allowedOptions: UNAuthorizationOptions? { state.withLock(\.allowed) }
  var requestCount: Int { state.withLock(\.requestCount) }
  var shown: [Shown] { state.withLock(\.shown) }
  var pending: [UserNotice] { state.withLock(\.pending) }
  var removed: [String] { state.withLock(\.removed) }
  var badges: [Int] { state.withLock(\.badges) }

  var isAppInForeground: Bool {
    get { state.withLock(\.isAppInForeground) }
    set { state.withLock { $0.isAppInForeground = newValue } }
  }

  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions {
    state.withLock {
      $0.requestCount += 1
      $0.allowed = options.intersection(decision)
      return options.intersection(decision)
    }
  }

  func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions) {
    state.withLock { $0.shown.append(Shown(notice: notice, options: options)) }
  }

  func remove(_ identifiers: [String]) {
    state.withLock { $0.removed += identifiers }
  }

  func pendingNoticesChanged(_ pending: [UserNotice]) {
    state.withLock { $0.pending = pending }
  }

  func setBadge(_ count: Int) {
    state.withLock { $0.badges.append(count) }
  }
}

/// An app's delegate that implements the forms with handlers.
final class ForegroundApp: UNUserNotificationCenterDelegate {
  let calls: AsyncStream<String>
  private let call: AsyncStream<String>.Continuation
  private let options: UNNotificationPresentationOptions

  init(shows options: UNNotificationPresentationOptions) {
    self.options = options
    (calls, call) = AsyncStream.makeStream()
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler:
      @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler(options)
    call.yield("present \(notification.request.identifier)")
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    let text = (response as? UNTextInputNotificationResponse).map { " \($0.userText)" } ?? ""
    call.yield(
      "\(response.actionIdentifier) \(response.notification.request.identifier)\(text)")
    completionHandler()
  }

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
  ) {
    call.yield("settings \(notification?.request.identifier ?? "of the system")")
  }
}

/// An app's delegate that implements the async forms.
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
