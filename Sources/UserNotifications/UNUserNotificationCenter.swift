// SPDX-License-Identifier: Apache-2.0
import Dispatch
// Apps use Foundation through this module, as on Apple's systems.
@_exported import Foundation

/// Apple's notification center, on Linux. It passes notifications to the `UserNotificationSink` that the
/// program installs.
///
/// Without a sink the status is `.denied`, and `add` fails with `.notificationsNotAllowed`. Handlers are called on
/// a global queue, the delegate on the main queue.
// Its state is behind a mutex; the class has no other.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
  private static let shared = UNUserNotificationCenter()

  let notifications = NotificationStore()

  /// A separate center, for a program with several devices.
  package override init() {}

  /// The center of this process.
  open class func current() -> UNUserNotificationCenter { shared }

  /// The app's delegate, held weakly and called on the main queue.
  open var delegate: (any UNUserNotificationCenterDelegate)? {
    get { notifications.delegate }
    set { notifications.delegate = newValue }
  }

  /// False: Linux has no extensions that draw notifications.
  open var supportsContentExtensions: Bool { false }

  // MARK: Authorization

  /// Asks the user for permission once; later calls return the first decision.
  ///
  /// - Throws: `UNError(.notificationsNotAllowed)` without a sink.
  open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
    try await notifications.requestAuthorization(options)
  }

  /// The form of `requestAuthorization(options:)` with a handler.
  open func requestAuthorization(
    options: UNAuthorizationOptions = [],
    completionHandler: @escaping (Bool, (any Error)?) -> Void
  ) {
    nonisolated(unsafe) let handler = completionHandler
    Task {
      let result: Result<Bool, any Error>
      do {
        result = .success(try await notifications.requestAuthorization(options))
      } catch {
        result = .failure(error)
      }
      onGlobalQueue {
        switch result {
        case .success(let isGranted): handler(isGranted, nil)
        case .failure(let error): handler(false, error)
        }
      }
    }
  }

  /// Returns the current settings. Does not ask the user.
  open func notificationSettings() async -> UNNotificationSettings { notifications.settings }

  /// The form of `notificationSettings()` with a handler.
  open func getNotificationSettings(
    completionHandler: @escaping (UNNotificationSettings) -> Void
  ) {
    onGlobalQueue { [notifications] in completionHandler(notifications.settings) }
  }

  // MARK: Categories

  /// Replaces all categories. The actions of a notification are looked up when it is shown.
  open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
    notifications.setCategories(categories)
  }

  /// Returns the categories.
  open func notificationCategories() async -> Set<UNNotificationCategory> {
    notifications.categories
  }

  /// The form of `notificationCategories()` with a handler.
  open func getNotificationCategories(
    completionHandler: @escaping (Set<UNNotificationCategory>) -> Void
  ) {
    onGlobalQueue { [notifications] in completionHandler(notifications.categories) }
  }

  // MARK: Pending notifications

  /// Shows a notification, at once or when its trigger fires. A request replaces a pending one with the
  /// same identifier.
  ///
  /// - Throws: `UNError`: `.notificationsNotAllowed` without a sink or the user's permission,
  ///   `.notificationInvalidNoContent` if there is nothing to show.
  open func add(_ request: UNNotificationRequest) async throws {
    try notifications.add(request, to: self)
  }

  /// The form of `add(_:)` with a handler.
  open func add(
    _ request: UNNotificationRequest,
    withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
  ) {
    let error = Self.error { () throws(UNError) in try notifications.add(request, to: self) }
    if let completionHandler { onGlobalQueue { completionHandler(error) } }
  }

  /// Returns the pending notifications.
  open func pendingNotificationRequests() async -> [UNNotificationRequest] {
    notifications.pendingRequests
  }

  /// The form of `pendingNotificationRequests()` with a handler.
  open func getPendingNotificationRequests(
    completionHandler: @escaping ([UNNotificationRequest]) -> Void
  ) {
    let pending = notifications.pendingRequests
    onGlobalQueue { completionHandler(pending) }
  }

  /// Removes the pending notifications with these identifiers.
  open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    notifications.removePending { identifiers.contains($0) }
  }

  /// Removes all pending notifications.
  open func removeAllPendingNotificationRequests() {
    notifications.removePending { _ in true }
  }

  // MARK: Delivered notifications

  /// Returns the notifications of this run of the app that are still shown.
  open func deliveredNotifications() async -> [UNNotification] { notifications.delivered }

  /// The form of `deliveredNotifications()` with a handler.
  open func getDeliveredNotifications(completionHandler: @escaping ([UNNotification]) -> Void) {
    let delivered = notifications.delivered
    onGlobalQueue { completionHandler(delivered) }
  }

  /// Removes the shown notifications with these identifiers.
  open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
    notifications.removeDelivered(identifiers)
  }

  /// Removes all shown notifications.
  open func removeAllDeliveredNotifications() {
    notifications.removeDelivered(notifications.delivered.map(\.request.identifier))
  }

  // MARK: The number on the app's icon

  /// Shows a number on the app's icon; 0 removes it.
  ///
  /// - Throws: `UNError`: `.notificationsNotAllowed` without a sink or the user's permission, `.badgeInputInvalid`
  ///   for a negative number.
  open func setBadgeCount(_ newBadgeCount: Int) async throws {
    try notifications.setBadge(newBadgeCount)
  }

  /// The form of `setBadgeCount(_:)` with a handler.
  open func setBadgeCount(
    _ newBadgeCount: Int, withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
  ) {
    let error = Self.error { () throws(UNError) in try notifications.setBadge(newBadgeCount) }
    if let completionHandler { onGlobalQueue { completionHandler(error) } }
  }

  private static func error(of work: () throws(UNError) -> Void) -> UNError? {
    do {
      try work()
      return nil
    } catch {
      return error
    }
  }
}

// For the program, in place of Apple's system.
extension UNUserNotificationCenter {
  /// Installs the sink that shows the notifications.
  public func install(_ sink: any UserNotificationSink) {
    notifications.install(sink)
  }

  /// Shows a pending notification now. Returns `false` if no notification with this identifier is pending.
  @discardableResult
  public func deliver(_ identifier: String) -> Bool {
    notifications.deliver(identifier, to: self)
  }

  /// Reports that the user has tapped a notification, dismissed it or chosen an action, and removes the notification.
  /// `text` is what the user has entered, for an action with a field for text.
  ///
  /// Of dismissals the delegate receives those of a category with `.customDismissAction`. Returns `false` if no
  /// notification with this identifier is shown.
  @discardableResult
  public func respond(
    to identifier: String, with actionIdentifier: String = UNNotificationDefaultActionIdentifier,
    text: String? = nil
  ) -> Bool {
    notifications.respond(to: identifier, with: actionIdentifier, text: text, of: self)
  }

  /// Reports that the user wants the app's notification settings: from the shown notification with this identifier, or
  /// from the system's settings if it is nil.
  ///
  /// Returns `false` if the app has not requested `.providesAppNotificationSettings`, or if no such notification is
  /// shown.
  @discardableResult
  public func openSettings(from identifier: String? = nil) -> Bool {
    notifications.openSettings(from: identifier, of: self)
  }

  /// The time of the sink, that of the system without one.
  var now: Date { notifications.now }
}

/// Calls a handler of the app. Apple's handlers are not `Sendable`; only this queue calls it.
private func onGlobalQueue(_ call: @escaping () -> Void) {
  nonisolated(unsafe) let call = call
  DispatchQueue.global().async { call() }
}
