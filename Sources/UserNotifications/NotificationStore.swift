// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// The notifications and categories of one `UNUserNotificationCenter`, with its sink and its delegate.
final class NotificationStore: Sendable {
  /// A pending request, and the time when its trigger fires; nil if it never does.
  private struct Pending: Equatable {
    let request: UNNotificationRequest
    var due: Date?

    /// The sink must know of an equal request that is added again: its delay begins again.
    static func == (one: Self, other: Self) -> Bool {
      one.request === other.request && one.due == other.due
    }
  }

  // Apple's objects are not `Sendable`. Requests, notifications and categories do not change, and only the main queue
  // calls the delegate.
  private struct State: @unchecked Sendable {
    var sink: (any UserNotificationSink)?
    weak var delegate: (any UNUserNotificationCenterDelegate)?
    var requestedOptions: UNAuthorizationOptions = []
    /// The question that the user has not answered yet.
    var question: Task<UNAuthorizationOptions, Never>?
    var categories: Set<UNNotificationCategory> = []
    var pending: [Pending] = []
    var delivered: [UNNotification] = []

    func notice(_ request: UNNotificationRequest) -> UserNotice {
      let identifier = request.content.categoryIdentifier
      return UserNotice(request, category: categories.first { $0.identifier == identifier })
    }
  }

  private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
  }

  private let state = Mutex(State())
  /// Held while the pending notifications change and the sink learns it, so that the sink learns the last change last.
  /// A sink may change them again.
  private let pendingChange = NSRecursiveLock()

  private func withState<Value>(_ body: (inout State) -> Value) -> Value {
    state.withLock { Unchecked(value: body(&$0)) }.value
  }

  func install(_ sink: any UserNotificationSink) {
    withState { $0.sink = sink }
  }

  var delegate: (any UNUserNotificationCenterDelegate)? {
    get { withState(\.delegate) }
    set { withState { $0.delegate = newValue } }
  }

  var now: Date { sink?.now ?? Date() }

  private var sink: (any UserNotificationSink)? { withState(\.sink) }
}

// Authorization.
extension NotificationStore {
  func requestAuthorization(_ options: UNAuthorizationOptions) async throws -> Bool {
    withState { $0.requestedOptions.formUnion(options) }
    guard let sink else { throw UNError(.notificationsNotAllowed) }
    if let allowed = sink.allowedOptions { return !allowed.isEmpty }
    let question = withState { state in
      let question = state.question ?? Task { await sink.ask(for: options) }
      state.question = question
      return question
    }
    let allowed = await question.value
    withState { $0.question = nil }
    return !allowed.isEmpty
  }

  var settings: UNNotificationSettings {
    guard let sink else { return UNNotificationSettings(status: .denied, allowed: []) }
    guard let allowed = sink.allowedOptions else {
      return UNNotificationSettings(status: .notDetermined, allowed: [])
    }
    let status: UNAuthorizationStatus =
      if allowed.isEmpty { .denied } else if allowed.contains(.provisional) { .provisional } else {
        .authorized
      }
    return UNNotificationSettings(
      status: status, allowed: allowed, providesAppNotificationSettings: providesSettings)
  }

  private var providesSettings: Bool {
    let options = withState(\.requestedOptions).union(sink?.allowedOptions ?? [])
    return options.contains(.providesAppNotificationSettings)
  }

  /// The sink, if the user allows notifications.
  private func allowedSink() throws(UNError) -> any UserNotificationSink {
    guard let sink, sink.allowedOptions?.isEmpty == false else {
      throw UNError(.notificationsNotAllowed)
    }
    return sink
  }

  func setBadge(_ count: Int) throws(UNError) {
    let sink = try allowedSink()
    guard count >= 0 else { throw UNError(.badgeInputInvalid) }
    sink.setBadge(count)
  }
}

// Categories and pending notifications.
extension NotificationStore {
  var categories: Set<UNNotificationCategory> { withState(\.categories) }

  func setCategories(_ categories: Set<UNNotificationCategory>) {
    withState { $0.categories = categories }
  }

  var pendingRequests: [UNNotificationRequest] { withState(\.pending).map(\.request) }

  func add(
    _ request: UNNotificationRequest, to center: UNUserNotificationCenter
  ) throws(UNError) {
    let sink = try allowedSink()
    let notice = UserNotice(request)
    guard !(notice.title + notice.body).isEmpty || notice.badge != nil || notice.hasSound else {
      throw UNError(.notificationInvalidNoContent)
    }
    let due = request.nextDate(after: sink.now)
    changePending { pending in
      pending.removeAll { $0.request.identifier == request.identifier }
      guard !notice.isImmediate else { return }
      pending.append(Pending(request: request, due: due))
      Self.keepSoonest(&pending)
    }
    if notice.isImmediate { present(request, of: center) }
  }

  func deliver(_ identifier: String, to center: UNUserNotificationCenter) -> Bool {
    let now = now
    let found = changePending { pending -> UNNotificationRequest? in
      guard let index = pending.firstIndex(where: { $0.request.identifier == identifier }) else {
        return nil
      }
      let request = pending[index].request
      if request.trigger?.repeats == true {
        pending[index].due = request.nextDate(after: now)
      } else {
        pending.remove(at: index)
      }
      return request
    }
    guard let found else { return false }
    present(found, of: center)
    return true
  }

  func removePending(where isRemoved: (String) -> Bool) {
    changePending { $0.removeAll { isRemoved($0.request.identifier) } }
  }

  private static func keepSoonest(_ pending: inout [Pending]) {
    guard pending.count > UserNotificationLimit.pending else { return }
    let latest = pending.indices.max { one, other in
      (pending[one].due ?? .distantFuture) < (pending[other].due ?? .distantFuture)
    }
    if let latest { pending.remove(at: latest) }
  }

  /// Changes the pending notifications and notifies the sink if they changed.
  private func changePending<Value>(_ change: (inout [Pending]) -> Value) -> Value {
    pendingChange.withLock {
      let (sink, pending, value) = withState { state in
        let before = state.pending
        let value = change(&state.pending)
        return (before == state.pending ? nil : state.sink, state.pending, value)
      }
      sink?.pendingNoticesChanged(pending.map { UserNotice($0.request, due: $0.due) })
      return value
    }
  }
}

// Delivered notifications.
extension NotificationStore {
  var delivered: [UNNotification] { withState(\.delivered) }

  func removeDelivered(_ identifiers: [String]) {
    withState { $0.delivered.removeAll { identifiers.contains($0.request.identifier) } }
    // Includes notifications of an earlier run of the app.
    sink?.remove(identifiers)
  }

  func respond(
    to identifier: String, with action: String, text: String?, of center: UNUserNotificationCenter
  ) -> Bool {
    let shown = withState { state -> (notification: UNNotification, isReported: Bool)? in
      let index = state.delivered.firstIndex { $0.request.identifier == identifier }
      guard let index else { return nil }
      let notification = state.delivered.remove(at: index)
      let category = notification.request.content.categoryIdentifier
      let isReported =
        action != UNNotificationDismissActionIdentifier
        || state.categories.contains {
          $0.identifier == category && $0.options.contains(.customDismissAction)
        }
      return (notification, isReported)
    }
    guard let shown else { return false }
    sink?.remove([identifier])
    guard shown.isReported else { return true }
    let response =
      text.map {
        UNTextInputNotificationResponse(
          notification: shown.notification, actionIdentifier: action, userText: $0)
      } ?? UNNotificationResponse(notification: shown.notification, actionIdentifier: action)
    callDelegate { $0.userNotificationCenter(center, didReceive: response) {} }
    return true
  }

  func openSettings(from identifier: String?, of center: UNUserNotificationCenter) -> Bool {
    guard providesSettings else { return false }
    let shown = delivered.first { $0.request.identifier == identifier }
    guard identifier == nil || shown != nil else { return false }
    callDelegate { $0.userNotificationCenter(center, openSettingsFor: shown) }
    return true
  }

  /// Shows a notification. While the app is in the foreground its delegate decides which parts are shown;
  /// without a delegate nothing is.
  private func present(_ request: UNNotificationRequest, of center: UNUserNotificationCenter) {
    guard let sink else { return }
    let notification = UNNotification(request: request, date: sink.now)
    guard sink.isAppInForeground else {
      let isQuiet = sink.allowedOptions?.contains(.provisional) == true
      return show(notification, with: isQuiet ? [.list] : [.banner, .list, .sound, .badge])
    }
    callDelegate { delegate in
      delegate.userNotificationCenter(center, willPresent: notification) { options in
        if !options.isEmpty { self.show(notification, with: options) }
      }
    }
  }

  private func show(
    _ notification: UNNotification, with options: UNNotificationPresentationOptions
  ) {
    let request = notification.request
    let (sink, notice) = withState { state in
      state.delivered.removeAll { $0.request.identifier == request.identifier }
      let isVisible = !options.isDisjoint(with: [.banner, .alert, .list])
      if isVisible { state.delivered.append(notification) }
      return (state.sink, state.notice(request))
    }
    sink?.show(notice, with: options)
  }

  private func callDelegate(_ call: @escaping (any UNUserNotificationCenterDelegate) -> Void) {
    nonisolated(unsafe) let call = call
    DispatchQueue.main.async { [self] in
      if let delegate { call(delegate) }
    }
  }
}
