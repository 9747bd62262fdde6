import ExposureNotification
import Foundation
import World

extension ExposureApp {
  /// Shows the notices whose cause has lasted long enough, each once, and removes those whose cause is
  /// resolved.
  func updateStandingNotices() async {
    await setNotice(.permissionLost, isPermissionLost ? .permissionLost : nil)
    await setNotice(.checksFailing, lastingFailure.map(Notice.checksFailing))
    await setNotice(.storageDamaged, storageWarning)
  }

  /// Shows `notice` unless it is shown already, or removes it if it is `nil`.
  private func setNotice(_ identifier: Notice.Identifier, _ notice: Notice?) async {
    guard let notice else { return await removeNotice(identifier) }
    let isShown = store.state.notices.visible.contains(identifier)
    guard !isShown, !noticesWithoutStore.contains(identifier) else { return }
    await notices.show(notice)
    do {
      try store.update { $0.notices.visible.insert(identifier) }
    } catch {
      noticesWithoutStore.insert(identifier)
    }
    announce(.noticeShown(identifier))
  }

  /// True if the user had allowed exposure notifications and does not any more.
  private var isPermissionLost: Bool {
    store.state.wasAuthorized && authorizationStatus() != .authorized
  }

  /// The reason of the last failure if no check has been complete for two days.
  private var lastingFailure: CheckFailure? {
    // Before the first consent no check can be complete.
    guard store.state.wasAuthorized, !store.state.isTurnedOff,
      let since = store.state.history.failingSince,
      clock.now.timeIntervalSince(since) >= NoticeRule.failingSeconds
    else { return nil }
    return lastFailure
  }

  /// The notice about damage that is neither repaired nor acknowledged by the user.
  private var storageWarning: Notice? {
    if let advice = store.condition.advice {
      return .storageDamaged(.storage(store.condition), advice)
    }
    let contents = storageDamage.map(\.content)
    guard !contents.isEmpty else { return nil }
    let sentences = Set(contents.map(\.message)).sorted()
    return .storageDamaged(
      .damage(DataDamage.Content.allCases.filter(contents.contains)),
      sentences.joined(separator: " "))
  }

  /// Records that the user has allowed exposure notifications, so that a loss of the permission is noticed,
  /// and the time since when the phone can receive.
  func noteAuthorization() {
    let isReceiving = store.state.isTurnedOff || store.state.download.receiving != nil
    guard authorizationStatus() == .authorized, !(store.state.wasAuthorized && isReceiving)
    else { return }
    let now = clock.now
    try? store.update { state in
      if !state.wasAuthorized { state.history.forgetFailures() }
      state.wasAuthorized = true
      if !isReceiving { state.download.beginReceiving(at: now) }
    }
  }
}

/// The timing of notices.
public enum NoticeRule {
  /// The time without a complete check after which the user is told, in seconds.
  public static let failingSeconds: TimeInterval = 2 * RemovalRule.daySeconds
}

extension Notice {
  /// The notice that exposure notifications are not allowed any more.
  static let permissionLost = Notice(
    cause: .permissionLost, title: "Exposure notifications are not allowed",
    body: "This phone does not record encounters any more. Allow exposure notifications again.")

  /// The notice that no check has been complete for two days.
  static func checksFailing(_ reason: CheckFailure) -> Notice {
    Notice(
      cause: .checksFailing(reason), title: "No complete check for two days",
      body: reason.description)
  }

  /// The notice about damaged data.
  static func storageDamaged(_ cause: Cause, _ explanation: String) -> Notice {
    Notice(cause: cause, title: "Stored data was damaged", body: explanation)
  }
}
