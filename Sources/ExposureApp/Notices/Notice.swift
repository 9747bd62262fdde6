// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import World

/// A notification for the user. Its texts are those of the program that shows it.
public struct Notice: Sendable, Hashable {
  /// The kind of a notice. At most one notice of each kind is shown.
  public enum Identifier: String, Sendable, Codable, CaseIterable {
    /// There was an encounter on a day of which the user was not told.
    case risk = "risk"
    /// An encounter of which the user was told was withdrawn.
    case riskCorrected = "risk-corrected"
    /// The app has finished an upload by itself, or could not.
    case upload = "upload"
    /// Bluetooth is off, so no encounters are recorded.
    case bluetoothOff = "bluetooth-off"
    /// The phone's clock is wrong.
    case clockWrong = "clock-wrong"
    /// No check has been complete for two days.
    case checksFailing = "checks-failing"
    /// The user had allowed exposure notifications, and they are not allowed any more.
    case permissionLost = "permission-lost"
    /// Stored data was damaged.
    case storageDamaged = "storage-damaged"
  }

  /// The reason of a notice, from which a text in any language can be made.
  public enum Cause: Sendable, Hashable, Codable {
    /// There was an encounter with this risk.
    case risk(RiskLevel)
    /// An encounter of which the user was told was withdrawn.
    case riskCorrected
    /// The app has finished an upload by itself.
    case uploadFinished
    /// The app could not finish an upload.
    case uploadUnfinished
    /// Bluetooth is off.
    case bluetoothOff
    /// The phone's clock is wrong, so encounters cannot be found.
    case clockWrong
    /// No check has been complete for two days; the last failure.
    case checksFailing(CheckFailure)
    /// Exposure notifications are not allowed any more.
    case permissionLost
    /// The store is not open.
    case storage(StorageCondition)
    /// These data were damaged.
    case damage([DataDamage.Content])
  }

  /// The reason of the notice.
  public let cause: Cause
  /// The days that a risk notice is about, as numbers of days since 1970; empty for other notices.
  public var days: Set<Int> = []

  /// Creates a notice.
  public init(_ cause: Cause) {
    self.cause = cause
  }

  /// The kind of the notice.
  public var identifier: Identifier { cause.identifier }

  /// The risk level that the notice reports, if any.
  public var riskLevel: RiskLevel? {
    if case .risk(let level) = cause { level } else { nil }
  }
}

extension Notice.Cause {
  /// The kind of the notice.
  public var identifier: Notice.Identifier {
    switch self {
    case .risk: .risk
    case .riskCorrected: .riskCorrected
    case .uploadFinished, .uploadUnfinished: .upload
    case .bluetoothOff: .bluetoothOff
    case .clockWrong: .clockWrong
    case .checksFailing: .checksFailing
    case .permissionLost: .permissionLost
    case .storage, .damage: .storageDamaged
    }
  }
}

/// Shows notices: the system's notification centre, or a recording in tests and simulations.
public protocol NoticeSink: Sendable {
  /// Shows a notice and replaces one of the same kind.
  func show(_ notice: Notice) async
  /// Removes the notice of this kind if it is shown.
  func remove(_ identifier: Notice.Identifier) async
}

extension ExposureApp {
  /// The risk level of each day with an encounter, as the user sees it.
  var riskDays: [Int: RiskLevel] {
    let assessment = RiskAssessment(thresholds: remote.riskLevelConfiguration)
    let days = exposures.map { ($0.day.number, assessment.level(of: $0)) }
    return Dictionary(days.filter { $0.1 > .none }, uniquingKeysWith: max)
  }

  /// Shows the notice about days with a risk of which the user was not told. It is marked as shown afterwards; after
  /// a crash in between, it is shown twice, and the second replaces the first.
  func showDueRiskNotice() async {
    let due = store.state.notices.due(riskDays)
    guard let level = due.values.max() else { return }
    var notice = Notice(.risk(level))
    notice.days = Set(due.keys)
    await notices.show(notice)
    store.updateIfPossible { $0.notices.markShown(due) }
    announce(.noticeShown(.risk))
  }

  /// Ends the risk notice with the encounters that it is about, and explains encounters that were withdrawn.
  private func updateRiskNotices() async {
    guard store.condition == .ready else { return }
    let (days, oldest) = (riskDays, store.state.oldestExposure(at: clock.now))
    let isRiskNoticeTrue = store.state.notices.isTrue(of: days)
    var next = store.state.notices
    next.follow(days, isKnown: areResultsKnown, rules: rulesVersion, after: oldest)
    if next != store.state.notices { store.updateIfPossible { $0.notices = next } }
    if !isRiskNoticeTrue { await removeNotice(.risk) }
    await setNotice(next.correctedDay == nil ? nil : .riskCorrected, of: .riskCorrected)
  }

  /// The version of the rules that gave the current levels: those of the last detection, or for scores those in force.
  private var rulesVersion: Int {
    configuration.windowRisk == nil
      ? remote.version : store.state.detectionRulesVersion ?? remote.version
  }

  /// Removes the notices that the user has dismissed. One whose cause lasts is shown again by the next check.
  public func dismissNotices() async throws(StorageFailure) {
    let shown = store.state.notices.visible.union(noticesWithoutStore)
    try store.update { $0.notices.dismiss() }
    noticesWithoutStore = []
    for identifier in shown {
      await notices.remove(identifier)
      announce(.noticeRemoved(identifier))
    }
  }

  /// Shows the Bluetooth notice at most once a day, and removes it when Bluetooth is on again.
  func updateBluetoothNotice() async {
    guard framework.status == .bluetoothOff else { return await removeNotice(.bluetoothOff) }
    let now = clock.now
    guard store.state.notices.isBluetoothNoticeDue(at: now) else { return }
    let change = { (state: inout StoredState) in
      state.notices.lastBluetoothNotice = now
      state.notices.visible.insert(.bluetoothOff)
    }
    guard store.updateIfPossible(change) else { return }
    await notices.show(Notice(.bluetoothOff))
    announce(.noticeShown(.bluetoothOff))
  }

  /// Removes a notice if it is shown.
  func removeNotice(_ identifier: Notice.Identifier) async {
    let isShown = store.state.notices.visible.contains(identifier)
    guard noticesWithoutStore.remove(identifier) != nil || isShown else { return }
    await notices.remove(identifier)
    store.updateIfPossible { $0.notices.visible.remove(identifier) }
    announce(.noticeRemoved(identifier))
  }
}

extension ExposureApp {
  /// Shows the notices whose cause has lasted long enough, each once, and removes those whose cause is
  /// resolved.
  func updateStandingNotices() async {
    await updateRiskNotices()
    if let end = store.state.notices.uploadNoticeEnd, end <= clock.now {
      await removeNotice(.upload)
    }
    await setNotice(isPermissionLost ? .permissionLost : nil, of: .permissionLost)
    await setNotice(isClockWrong ? .clockWrong : nil, of: .clockWrong)
    await setNotice(lastingFailure.map(Notice.Cause.checksFailing), of: .checksFailing)
    await setNotice(damageCause, of: .storageDamaged)
  }

  /// Shows the notice with this cause unless one of its kind is shown already, or removes it if there is no cause.
  private func setNotice(_ cause: Notice.Cause?, of identifier: Notice.Identifier) async {
    guard let cause else { return await removeNotice(identifier) }
    let isShown = store.state.notices.visible.contains(identifier)
    guard !isShown, !noticesWithoutStore.contains(identifier) else { return }
    await notices.show(Notice(cause))
    do {
      try store.update { $0.notices.visible.insert(identifier) }
    } catch {
      noticesWithoutStore.insert(identifier)
    }
    announce(.noticeShown(identifier))
  }

  /// True if the user had allowed exposure notifications and does not any more. Nothing is known while the framework
  /// cannot read the user's decision.
  private var isPermissionLost: Bool {
    store.state.wasAuthorized && authorizationStatus() != .authorized
      && framework.status != .unknown
  }

  /// The reason of the last failure if no check has been complete for two days.
  var lastingFailure: CheckFailure? {
    // Before the first consent no check can be complete.
    // A wrong clock has a notice of its own.
    guard store.state.wasAuthorized, !store.state.isTurnedOff, !isClockWrong,
      let since = store.state.history.failingSince,
      clock.now.timeIntervalSince(since) >= NoticeRule.failingSeconds
    else { return nil }
    return lastFailure
  }

  /// The damage that is neither repaired nor acknowledged by the user.
  private var damageCause: Notice.Cause? {
    guard store.condition.advice == nil else { return .storage(store.condition) }
    let contents = storageDamage.map(\.content)
    return contents.isEmpty
      ? nil : .damage(DataDamage.Content.allCases.filter(contents.contains))
  }

  /// Records that the user has allowed exposure notifications, so that a loss of the permission is noticed,
  /// and the time since when the phone can receive.
  func noteAuthorization() {
    let isReceiving = store.state.isTurnedOff || store.state.download.receiving != nil
    guard authorizationStatus() == .authorized, !(store.state.wasAuthorized && isReceiving)
    else { return }
    let now = clock.now
    store.updateIfPossible { state in
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
