// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import World

/// A notification for the user.
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
  /// One line of text.
  public let title: String
  /// One or two sentences.
  public let body: String
  /// The days that a risk notice is about, as numbers of days since 1970; empty for other notices.
  public var days: Set<Int> = []

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

extension Notice {
  /// The notice for a risk level; `nil` for `none`.
  static func risk(_ level: RiskLevel) -> Notice? {
    guard let words = words[level] else { return nil }
    return Notice(cause: .risk(level), title: words.title, body: words.body)
  }

  /// The notice that an encounter was withdrawn.
  static let riskCorrected = Notice(
    cause: .riskCorrected, title: "An encounter was withdrawn",
    body: "The health authority has corrected the data in which this phone had found an encounter. "
      + "The earlier notice does not apply any more.")

  /// The notice that the app has finished an upload by itself.
  static let uploadFinished = Notice(
    cause: .uploadFinished, title: "Your keys were shared",
    body: "The upload that was interrupted is complete. People who were near you can now be warned."
  )

  /// The notice that the app could not finish an upload.
  static let uploadUnfinished = Notice(
    cause: .uploadUnfinished, title: "Your keys were not shared",
    body: "The upload that was interrupted could not be finished in time. "
      + "Enter the PIN again; if it is not valid any more, ask for a new one.")

  /// The notice that Bluetooth is off.
  static let bluetoothOff = Notice(
    cause: .bluetoothOff,
    title: "Bluetooth is off",
    body:
      "While Bluetooth is off, this phone cannot record encounters. Turn it on again."
  )

  /// The notice that the phone's clock is wrong.
  static let clockWrong = Notice(
    cause: .clockWrong, title: "The clock of this phone is wrong",
    body:
      "While the date or the time is wrong, this phone cannot find encounters. Set the date and time."
  )

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

  private static let words: [RiskLevel: (title: String, body: String)] = [
    .low: (
      "A brief encounter",
      "You were briefly near someone who has since tested positive. "
        + "The risk is low. Your exposures show the day."
    ),
    .medium: (
      "An encounter with some risk",
      "You were near someone who has since tested positive. "
        + "The risk is moderate. Your exposures show the day."
    ),
    .high: (
      "An encounter with high risk",
      "You spent time close to someone who has since tested positive. "
        + "Read the advice of the health authority on what to do now."
    ),
  ]
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
    let days = exposures.map { ($0.date.unixDay, assessment.level(of: $0)) }
    return Dictionary(days.filter { $0.1 > .none }, uniquingKeysWith: max)
  }

  /// Shows the notice about days with a risk of which the user was not told. It is marked as shown afterwards; after
  /// a crash in between, it is shown twice, and the second replaces the first.
  func showDueRiskNotice() async {
    let due = store.state.notices.due(riskDays)
    guard let level = due.values.max(), var notice = Notice.risk(level) else { return }
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
    next.follow(days, isKnown: areResultsKnown, after: oldest)
    if next != store.state.notices { store.updateIfPossible { $0.notices = next } }
    if !isRiskNoticeTrue { await removeNotice(.risk) }
    await setNotice(.riskCorrected, next.correctedDay == nil ? nil : .riskCorrected)
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
    await notices.show(.bluetoothOff)
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
    await setNotice(.permissionLost, isPermissionLost ? .permissionLost : nil)
    await setNotice(.clockWrong, isClockWrong ? .clockWrong : nil)
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
  var lastingFailure: CheckFailure? {
    // Before the first consent no check can be complete.
    // A wrong clock has a notice of its own.
    guard store.state.wasAuthorized, !store.state.isTurnedOff, !isClockWrong,
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
