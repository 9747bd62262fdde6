// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import UserNotifications
import World

/// The notifications of an app on a Linux desktop: `UNUserNotificationCenter` shows them through the desktop's
/// notification service, and the user's responses reach the app's delegate.
///
/// The desktop shows the actions of the category, if it supports any, and a field for the text of the first text input
/// action, if it supports `inline-reply`.
public final class DesktopNotificationSink: UserNotificationSink {
  private let appName: String
  private let clock: any WallClock
  private let askUser: @Sendable (UNAuthorizationOptions) async -> UNAuthorizationOptions
  private let app: DesktopApp
  private let session: DesktopSession
  private let delivery = Mutex<Task<Void, Never>?>(nil)

  /// The notifications of the app `appName`, whose center is `center`; nil if the address has no Unix domain socket.
  ///
  /// - Parameters:
  ///   - busAddress: The value of `DBUS_SESSION_BUS_ADDRESS`.
  ///   - appName: The name that the desktop shows with each notification.
  ///   - allowedOptions: The user's earlier decision; nil before the first one.
  ///   - center: The center whose notifications are shown.
  ///   - clock: The clock of the app.
  ///   - logger: Logs what the desktop refuses.
  ///   - ask: Asks the user and stores the decision, because desktops have no such prompt.
  public convenience init?(
    busAddress: String, appName: String, allowedOptions: UNAuthorizationOptions?,
    center: UNUserNotificationCenter = .current(), clock: any WallClock = SystemClock(),
    logger: Logger = Logger(label: "firebreak.desktop"),
    ask: @escaping @Sendable (UNAuthorizationOptions) async -> UNAuthorizationOptions
  ) {
    guard let bus = DBusAddress(busAddress) else { return nil }
    self.init(
      on: bus, callSeconds: DesktopLimit.callSeconds, appName: appName,
      allowedOptions: allowedOptions, center: center, clock: clock, logger: logger, ask: ask)
  }

  init(
    on bus: DBusAddress, callSeconds: Int, appName: String,
    allowedOptions: UNAuthorizationOptions?, center: UNUserNotificationCenter,
    clock: any WallClock, logger: Logger,
    ask: @escaping @Sendable (UNAuthorizationOptions) async -> UNAuthorizationOptions
  ) {
    let app = DesktopApp(center: center, allowed: allowedOptions)
    self.app = app
    self.appName = appName
    self.clock = clock
    askUser = ask
    session = DesktopSession(on: bus, callSeconds: callSeconds, logger: logger) { response in
      app.receive(response)
    }
  }

  deinit {
    delivery.withLock { $0?.cancel() }
  }

  /// True if the app is in the foreground. The program sets it; a tap and an action with `.foreground` set it to true.
  public var isAppInForeground: Bool {
    get { app.isInForeground }
    set { app.isInForeground = newValue }
  }

  public var now: Date { clock.now }

  public var allowedOptions: UNAuthorizationOptions? { app.allowed }

  public func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions {
    let allowed = await askUser(options)
    app.allowed = allowed
    return allowed
  }

  public func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions) {
    guard !options.isDisjoint(with: [.banner, .alert, .list]) else { return }
    session.perform { [app, appName] service in
      if service.isNew { app.forgetShown() }
      let notification = DesktopNotification(
        notice, options: options, capabilities: service.capabilities)
      let (id, isRestarted) = try service.notify(
        notification.arguments(appName: appName, replacing: app.id(of: notice.identifier)))
      if isRestarted { app.forgetShown() }
      app.record(notice, id: id)
    }
  }

  public func remove(_ identifiers: [String]) {
    session.perform { [app] service in
      if service.isNew { app.forgetShown() }
      for id in identifiers.compactMap(app.remove) { try service.close(id) }
    }
  }

  /// Waits for the next pending notification and delivers it; the center then calls this again.
  public func pendingNoticesChanged(_ pending: [UserNotice]) {
    let dates = pending.compactMap { notice in notice.due.map { (notice.identifier, $0) } }
    let next = dates.min { $0.1 < $1.1 }
    let task = next.map { identifier, due in
      Task { [clock, app] in
        // Canceled because the pending notifications changed.
        guard (try? await clock.sleep(until: due)) != nil else { return }
        app.center.deliver(identifier)
      }
    }
    delivery.withLock { delivery in
      delivery?.cancel()
      delivery = task
    }
  }
}

/// The app behind a `DesktopNotificationSink`: its permission, and its notifications with their IDs on the desktop.
private final class DesktopApp: Sendable {
  private struct State {
    var isInForeground = false
    var allowed: UNAuthorizationOptions?
    var shown: [String: (notice: UserNotice, id: UInt32)] = [:]
  }

  let center: UNUserNotificationCenter
  private let state: Mutex<State>

  init(center: UNUserNotificationCenter, allowed: UNAuthorizationOptions?) {
    self.center = center
    state = Mutex(State(allowed: allowed))
  }

  var isInForeground: Bool {
    get { state.withLock(\.isInForeground) }
    set { state.withLock { $0.isInForeground = newValue } }
  }

  var allowed: UNAuthorizationOptions? {
    get { state.withLock(\.allowed) }
    set { state.withLock { $0.allowed = newValue } }
  }

  func id(of identifier: String) -> UInt32? {
    state.withLock { $0.shown[identifier]?.id }
  }

  func record(_ notice: UserNotice, id: UInt32) {
    state.withLock { $0.shown[notice.identifier] = (notice, id) }
  }

  func remove(_ identifier: String) -> UInt32? {
    state.withLock { $0.shown.removeValue(forKey: identifier)?.id }
  }

  /// Forgets the notifications of an earlier service: another one gives their IDs again, to any program.
  func forgetShown() {
    state.withLock { $0.shown = [:] }
  }

  /// Passes a response to the center, and so to the app's delegate.
  func receive(_ response: DesktopSession.Response) {
    switch response {
    case .dismissal(let id):
      guard let notice = notice(id) else { return }
      center.respond(to: notice.identifier, with: UNNotificationDismissActionIdentifier)
    case .action(let id, DesktopNotification.tapKey):
      guard let notice = notice(id) else { return }
      isInForeground = true
      center.respond(to: notice.identifier)
    case .action(let id, let key):
      guard let notice = notice(id), let action = DesktopNotification.action(key, of: notice)
      else { return }
      respond(to: notice, with: action)
    case .text(let id, let text):
      guard let notice = notice(id), let action = DesktopNotification.textAction(of: notice)
      else { return }
      respond(to: notice, with: action, text: text)
    }
  }

  private func respond(to notice: UserNotice, with action: UserNoticeAction, text: String? = nil) {
    if action.options.contains(.foreground) { isInForeground = true }
    center.respond(to: notice.identifier, with: action.identifier, text: text)
  }

  private func notice(_ id: UInt32) -> UserNotice? {
    state.withLock { state in state.shown.values.first { $0.id == id }?.notice }
  }
}
