// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Apple's notification center, on Linux. It passes notifications to the `UserNotificationSink` that the
/// program installs.
///
/// Without a sink the status is `.denied`, and `add` fails with `.notificationsNotAllowed`.
public final class UNUserNotificationCenter: Sendable {
  private struct State {
    var sink: (any UserNotificationSink)?
    var delegate: WeakDelegate?
    var pending: [UserNotice] = []
    var delivered: [DeliveredNotice] = []
  }

  private static let shared = UNUserNotificationCenter()

  private let state = Mutex(State())

  /// A separate center, for a program with several devices.
  package init() {}

  /// The center of this process.
  public class func current() -> UNUserNotificationCenter { shared }

  /// Installs the sink that shows the notifications.
  public func install(_ sink: any UserNotificationSink) {
    state.withLock { $0.sink = sink }
  }

  /// The app's delegate, held weakly and called on the main queue.
  public var delegate: (any UNUserNotificationCenterDelegate)? {
    get { state.withLock(\.delegate)?.delegate }
    set {
      let delegate = newValue.map(WeakDelegate.init)
      state.withLock { $0.delegate = delegate }
    }
  }

  private var sink: (any UserNotificationSink)? { state.withLock(\.sink) }
}

extension UNUserNotificationCenter {
  /// Asks the user for permission once; later calls return the first decision.
  ///
  /// - Throws: `UNError(.notificationsNotAllowed)` without a sink.
  public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
    guard let sink else { throw UNError(.notificationsNotAllowed) }
    if let allowed = sink.allowedOptions { return !allowed.isEmpty }
    return !(await sink.ask(for: options)).isEmpty
  }

  /// The form of `requestAuthorization(options:)` with a handler, which is called on a global queue.
  public func requestAuthorization(
    options: UNAuthorizationOptions = [],
    completionHandler: @escaping (Bool, (any Error)?) -> Void
  ) {
    nonisolated(unsafe) let handler = completionHandler
    Task {
      let result: Result<Bool, any Error>
      do {
        result = .success(try await requestAuthorization(options: options))
      } catch {
        result = .failure(error)
      }
      DispatchQueue.global().async {
        switch result {
        case .success(let isGranted): handler(isGranted, nil)
        case .failure(let error): handler(false, error)
        }
      }
    }
  }

  /// Returns the current settings. Does not ask the user.
  public func notificationSettings() async -> UNNotificationSettings {
    settings
  }

  /// The form of `notificationSettings()` with a handler, which is called on a global queue.
  public func getNotificationSettings(
    completionHandler: @escaping (UNNotificationSettings) -> Void
  ) {
    nonisolated(unsafe) let handler = completionHandler
    DispatchQueue.global().async { [self] in handler(settings) }
  }

  private var settings: UNNotificationSettings {
    guard let sink else { return UNNotificationSettings(status: .denied, allowed: []) }
    guard let allowed = sink.allowedOptions else {
      return UNNotificationSettings(status: .notDetermined, allowed: [])
    }
    let status: UNAuthorizationStatus =
      if allowed.isEmpty { .denied } else if allowed.contains(.provisional) { .provisional } else {
        .authorized
      }
    return UNNotificationSettings(status: status, allowed: allowed)
  }
}

// Pending notifications.
extension UNUserNotificationCenter {
  /// Shows a notification, at once or when its trigger fires. A request replaces an earlier one with the
  /// same identifier.
  ///
  /// - Throws: `UNError`: `.notificationsNotAllowed` without a sink or the user's permission,
  ///   `.notificationInvalidNoContent` if there is nothing to show.
  public func add(_ request: UNNotificationRequest) async throws {
    try accept(UserNotice(request))
  }

  /// The form of `add(_:)` with a handler, which is called on a global queue.
  public func add(
    _ request: UNNotificationRequest,
    withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
  ) {
    let result = Result { try accept(UserNotice(request)) }
    guard let completionHandler else { return }
    nonisolated(unsafe) let handler = completionHandler
    DispatchQueue.global().async {
      switch result {
      case .success: handler(nil)
      case .failure(let error): handler(error)
      }
    }
  }

  /// Shows a pending notification now. The program calls it; on an iPhone the system does this. Returns
  /// `false` if no notification with this identifier is pending.
  @discardableResult
  public func deliver(_ identifier: String) -> Bool {
    let pending = state.withLock(\.pending).first { $0.identifier == identifier }
    guard let notice = pending else { return false }
    if !notice.repeats { removePendingNotificationRequests(withIdentifiers: [identifier]) }
    present(notice)
    return true
  }

  /// Removes the pending notifications with these identifiers.
  public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    changePending { $0.removeAll { identifiers.contains($0.identifier) } }
  }

  /// Removes all pending notifications.
  public func removeAllPendingNotificationRequests() {
    changePending { $0 = [] }
  }

  /// Returns the pending notifications.
  public func getPendingNotificationRequests(
    completionHandler: @escaping ([UNNotificationRequest]) -> Void
  ) {
    let pending = state.withLock(\.pending)
    nonisolated(unsafe) let handler = completionHandler
    DispatchQueue.global().async { handler(pending.map(\.request)) }
  }

  /// The async form of `getPendingNotificationRequests(completionHandler:)`.
  public func pendingNotificationRequests() async -> [UNNotificationRequest] {
    state.withLock(\.pending).map(\.request)
  }

  private func accept(_ notice: UserNotice) throws(UNError) {
    guard let sink, sink.allowedOptions?.isEmpty == false else {
      throw UNError(.notificationsNotAllowed)
    }
    guard !(notice.title + notice.body).isEmpty || notice.badge != nil || notice.hasSound else {
      throw UNError(.notificationInvalidNoContent)
    }
    changePending { pending in
      pending.removeAll { $0.identifier == notice.identifier }
      if notice.delay != nil { pending.append(notice) }
    }
    if notice.delay == nil { present(notice) }
  }

  /// Changes the pending notifications and notifies the sink if they changed.
  private func changePending(_ change: (inout [UserNotice]) -> Void) {
    let (sink, pending) = state.withLock { state in
      let before = state.pending
      change(&state.pending)
      return (before == state.pending ? nil : state.sink, state.pending)
    }
    sink?.pendingNoticesChanged(pending)
  }
}

// Delivered notifications.
extension UNUserNotificationCenter {
  /// Removes the shown notifications with these identifiers.
  public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
    state.withLock { state in
      state.delivered.removeAll { identifiers.contains($0.notice.identifier) }
    }
    // Includes notifications of an earlier run of the app.
    sink?.remove(identifiers)
  }

  /// Removes all shown notifications.
  public func removeAllDeliveredNotifications() {
    removeDeliveredNotifications(
      withIdentifiers: state.withLock(\.delivered).map(\.notice.identifier))
  }

  /// Returns the notifications of this run of the app that are still shown.
  public func getDeliveredNotifications(
    completionHandler: @escaping ([UNNotification]) -> Void
  ) {
    let delivered = state.withLock(\.delivered)
    nonisolated(unsafe) let handler = completionHandler
    DispatchQueue.global().async { handler(delivered.map(\.notification)) }
  }

  /// The async form of `getDeliveredNotifications(completionHandler:)`.
  public func deliveredNotifications() async -> [UNNotification] {
    state.withLock(\.delivered).map(\.notification)
  }

  /// Reports that the user has tapped or dismissed a notification. The program calls it; the delegate is
  /// called on the main queue. Returns `false` if no notification with this identifier is shown.
  @discardableResult
  public func respond(
    to identifier: String, with actionIdentifier: String = UNNotificationDefaultActionIdentifier
  ) -> Bool {
    let shown = state.withLock { state in
      let shown = state.delivered.first { $0.notice.identifier == identifier }
      state.delivered.removeAll { $0.notice.identifier == identifier }
      return shown
    }
    guard let shown else { return false }
    sink?.remove([identifier])
    DispatchQueue.main.async { [self] in
      let response = UNNotificationResponse(
        notification: shown.notification, actionIdentifier: actionIdentifier)
      delegate?.userNotificationCenter(self, didReceive: response) {}
    }
    return true
  }

  /// Shows `notice`. While the app is in the foreground its delegate decides which parts are shown;
  /// without a delegate nothing is.
  private func present(_ notice: UserNotice) {
    guard let sink else { return }
    guard sink.isAppInForeground else {
      return show(notice, with: [.banner, .list, .sound, .badge])
    }
    let shown = DeliveredNotice(notice: notice, date: sink.now)
    DispatchQueue.main.async { [self] in
      delegate?.userNotificationCenter(self, willPresent: shown.notification) { options in
        if !options.isEmpty { self.show(notice, with: options) }
      }
    }
  }

  private func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions) {
    guard let sink else { return }
    let shown = DeliveredNotice(notice: notice, date: sink.now)
    state.withLock { state in
      state.delivered.removeAll { $0.notice.identifier == notice.identifier }
      state.delivered.append(shown)
    }
    sink.show(notice, with: options)
  }
}

/// A notification and the date when it was shown.
private struct DeliveredNotice: Sendable {
  let notice: UserNotice
  let date: Date

  var notification: UNNotification { UNNotification(request: notice.request, date: date) }
}

/// The delegate, which the app owns. Apps' delegates are not `Sendable`; only the main queue calls them.
private struct WeakDelegate: @unchecked Sendable {
  private(set) weak var delegate: (any UNUserNotificationCenterDelegate)?

  init(_ delegate: any UNUserNotificationCenterDelegate) {
    self.delegate = delegate
  }
}

/// The reason why a notification is rejected. On Linux an `NSError` does not bridge back, so pass on
/// the value.
public struct UNError: Error, Hashable, Sendable {
  /// The kind of error.
  public let code: Code

  /// An error of this code.
  public init(_ code: Code) {
    self.code = code
  }

  /// `UNErrorDomain`.
  public static var errorDomain: String { "UNErrorDomain" }
  /// The user does not allow notifications.
  public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
  /// There is nothing to show.
  public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }
}

extension UNError: CustomNSError, LocalizedError {
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
  public var errorDescription: String? { message }

  private var message: String {
    switch code {
    case .notificationsNotAllowed:
      "Notifications are not allowed; call requestAuthorization or install a UserNotificationSink."
    case .notificationInvalidNoContent:
      "The notification has no content; give it a title, a body, a badge or a sound."
    }
  }
}

extension UNError {
  /// The error codes that occur here, with Apple's numbers.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The user does not allow notifications.
    case notificationsNotAllowed = 1
    /// There is nothing to show.
    case notificationInvalidNoContent = 1401
  }
}

extension UNError.Code {
  /// Lets `catch UNError.notificationsNotAllowed` match.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? UNError)?.code == code
  }
}
