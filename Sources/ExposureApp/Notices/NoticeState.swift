import ExposureNotification
import Foundation
import World

/// The notices that the user has seen and those that are pending. The property names are the JSON keys on disk.
struct NoticeState: Codable, Sendable, Equatable {
  /// The last level that the user was notified of.
  private(set) var toldLevel = RiskLevel.none
  /// The level of the pending notice. It is kept until the notice is shown, so that a restart in between
  /// does not lose it.
  private(set) var dueLevel: RiskLevel?
  /// The time of the last Bluetooth notice.
  var lastBluetoothNotice: Date?

  /// The shortest interval between two Bluetooth notices, in seconds.
  static let bluetoothNoticeSeconds: TimeInterval = 86_400

  /// Records the current level. A rise makes a notice pending; a fall only allows a later rise to be
  /// shown again.
  mutating func setLevel(_ level: RiskLevel) {
    if level > toldLevel { dueLevel = level }
    if level < toldLevel { toldLevel = level }
    if let due = dueLevel, level < due { dueLevel = level > toldLevel ? level : nil }
  }

  /// Records that the pending notice was shown.
  mutating func markShown() {
    toldLevel = dueLevel ?? toldLevel
    dueLevel = nil
  }

  /// Returns `true` if the Bluetooth notice may be shown at `now`.
  func isBluetoothNoticeDue(at now: Date) -> Bool {
    guard let lastBluetoothNotice else { return true }
    return abs(now.timeIntervalSince(lastBluetoothNotice)) >= Self.bluetoothNoticeSeconds
  }
}

extension ExposureApp {
  /// Shows the pending risk notice. It is marked as shown afterwards; after a crash in between, it is
  /// shown twice, and the second replaces the first.
  func showDueRiskNotice() async {
    guard let level = store.state.notices.dueLevel, let notice = Notice.risk(level) else { return }
    await notices.show(notice)
    try? store.update { $0.notices.markShown() }
  }

  /// Shows the Bluetooth notice at most once a day, and removes it when Bluetooth is on again.
  func updateBluetoothNotice() async {
    guard framework.status == .bluetoothOff else {
      if store.state.notices.lastBluetoothNotice != nil { await notices.remove(.bluetoothOff) }
      return
    }
    let now = clock.now
    guard store.state.notices.isBluetoothNoticeDue(at: now) else { return }
    guard (try? store.update { $0.notices.lastBluetoothNotice = now }) != nil else { return }
    await notices.show(.bluetoothOff)
  }
}
