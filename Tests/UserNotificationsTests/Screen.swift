import Foundation
import Synchronization
import UserNotifications

/// A phone's screen in the hand of a test, with a person who gives one answer.
final class Screen: UserNotificationSink {
  struct Shown: Hashable, Sendable {
    let notice: UserNotice
    let options: UNNotificationPresentationOptions
  }

  private struct State {
    var allowed: UNAuthorizationOptions?
    var questions = 0
    var isAppInForeground = false
    var shown: [Shown] = []
    var pending: [UserNotice] = []
    var removed: [String] = []
  }

  let now = Date(timeIntervalSince1970: 1_592_222_400)
  private let answer: UNAuthorizationOptions
  private let state = Mutex(State())

  init(answer: UNAuthorizationOptions = [.alert, .sound]) {
    self.answer = answer
  }

  var allowedOptions: UNAuthorizationOptions? { state.withLock(\.allowed) }
  var questions: Int { state.withLock(\.questions) }
  var shown: [Shown] { state.withLock(\.shown) }
  var pending: [UserNotice] { state.withLock(\.pending) }
  var removed: [String] { state.withLock(\.removed) }

  var isAppInForeground: Bool {
    get { state.withLock(\.isAppInForeground) }
    set { state.withLock { $0.isAppInForeground = newValue } }
  }

  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions {
    state.withLock {
      $0.questions += 1
      $0.allowed = options.intersection(answer)
      return options.intersection(answer)
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
}
