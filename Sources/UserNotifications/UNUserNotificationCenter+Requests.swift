import Dispatch
import Foundation
import Synchronization

extension UNUserNotificationCenter {
  /// Tells the person what `request` says, at once or when its trigger comes. A request takes the
  /// place of an earlier one of its identifier.
  ///
  /// - Throws: `UNError`: `.notificationsNotAllowed` without a sink or the person's consent,
  ///   `.notificationInvalidNoContent` where there is nothing to show.
  public func add(_ request: UNNotificationRequest) async throws {
    try take(UserNotice(request))
  }

  /// `add(_:)` with a handler, which is called on a queue of the system's.
  public func add(
    _ request: UNNotificationRequest,
    withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
  ) {
    let result = Result { try take(UserNotice(request)) }
    guard let handler = completionHandler.map(Handoff.init) else { return }
    DispatchQueue.global().async {
      switch result {
      case .success: handler.value(nil)
      case .failure(let error): handler.value(error)
      }
    }
  }

  /// Shows a notification whose time has come: the program's side, which Apple's system does by
  /// itself. False where none of this identifier waits.
  @discardableResult
  public func deliver(_ identifier: String) -> Bool {
    let waiting = state.withLock(\.pending).first { $0.identifier == identifier }
    guard let notice = waiting else { return false }
    if !notice.repeats { removePendingNotificationRequests(withIdentifiers: [identifier]) }
    present(notice)
    return true
  }

  /// Takes back what waits under these identifiers.
  public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    changePending { $0.removeAll { identifiers.contains($0.identifier) } }
  }

  /// Takes back all that waits.
  public func removeAllPendingNotificationRequests() {
    changePending { $0 = [] }
  }

  /// What waits for its time.
  public func getPendingNotificationRequests(
    completionHandler: @escaping ([UNNotificationRequest]) -> Void
  ) {
    let (pending, handler) = (state.withLock(\.pending), Handoff(completionHandler))
    DispatchQueue.global().async { handler.value(pending.map(\.request)) }
  }

  /// `getPendingNotificationRequests(completionHandler:)`, awaited.
  public func pendingNotificationRequests() async -> [UNNotificationRequest] {
    state.withLock(\.pending).map(\.request)
  }

  private func take(_ notice: UserNotice) throws(UNError) {
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

  /// Changes what waits and tells the sink, where it is another now.
  private func changePending(_ change: (inout [UserNotice]) -> Void) {
    let (sink, pending) = state.withLock { state in
      let before = state.pending
      change(&state.pending)
      return (before == state.pending ? nil : state.sink, state.pending)
    }
    sink?.pendingNoticesChanged(pending)
  }
}
