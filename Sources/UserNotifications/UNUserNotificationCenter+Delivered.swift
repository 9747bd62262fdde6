import Dispatch
import Foundation
import Synchronization

// What the person sees, and does with it.
extension UNUserNotificationCenter {
  /// Takes what is shown under these identifiers away.
  public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
    state.withLock { state in
      state.delivered.removeAll { identifiers.contains($0.notice.identifier) }
    }
    // Also what an earlier run of the app has shown.
    sink?.remove(identifiers)
  }

  /// Takes all that is shown away.
  public func removeAllDeliveredNotifications() {
    removeDeliveredNotifications(
      withIdentifiers: state.withLock(\.delivered).map(\.notice.identifier))
  }

  /// What this run of the app has shown and nobody has taken away.
  public func getDeliveredNotifications(
    completionHandler: @escaping ([UNNotification]) -> Void
  ) {
    let (delivered, handler) = (state.withLock(\.delivered), Handoff(completionHandler))
    DispatchQueue.global().async { handler.value(delivered.map(\.notification)) }
  }

  /// `getDeliveredNotifications(completionHandler:)`, awaited.
  public func deliveredNotifications() async -> [UNNotification] {
    state.withLock(\.delivered).map(\.notification)
  }

  /// The person has tapped or dismissed a notification: the program's side. The delegate learns of it
  /// on the main queue. False where none of this identifier is shown.
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

  /// Shows `notice`; while the app is in front its delegate decides how, and without one it stays
  /// silent.
  func present(_ notice: UserNotice) {
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
