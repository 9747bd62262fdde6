// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import World

/// Shows and removes the app's notices.
final class NoticeBoard {
  private let context: AppContext
  let sink: any NoticeSink

  init(_ context: AppContext, sink: any NoticeSink) {
    self.context = context
    self.sink = sink
  }

  /// Shows the notice about days with a risk of which the user was not told. It is marked as shown afterwards; after
  /// a crash in between, it is shown twice, and the second replaces the first.
  func showDueRisk() async {
    let due = context.state.notices.due(context.riskDays)
    guard let level = due.values.max() else { return }
    var notice = Notice(.risk(level))
    notice.days = Set(due.keys)
    await sink.show(notice)
    context.store.updateIfPossible { $0.notices.markShown(due) }
    context.announce(.noticeShown(.risk))
  }

  /// Ends the risk notice with the encounters that it is about, and explains encounters that were withdrawn.
  private func updateRisk() async {
    guard context.store.condition == .ready else { return }
    let (days, oldest) = (context.riskDays, context.state.oldestExposure(at: context.now))
    let isRiskNoticeTrue = context.state.notices.isTrue(of: days)
    var next = context.state.notices
    next.follow(days, isKnown: context.areResultsKnown, rules: rulesVersion, after: oldest)
    if next != context.state.notices { context.store.updateIfPossible { $0.notices = next } }
    if !isRiskNoticeTrue { await remove(.risk) }
    await set(next.correctedDay == nil ? nil : .riskCorrected, of: .riskCorrected)
  }

  /// The version of the rules that gave the current levels: those of the last detection, or for scores those in force.
  private var rulesVersion: Int {
    context.configuration.windowRisk == nil
      ? context.remote.version : context.state.detectionRulesVersion ?? context.remote.version
  }

  /// Removes the notices that the user has dismissed. One whose cause lasts is shown again by the next check.
  func dismiss() async throws(StorageFailure) {
    let shown = context.state.notices.visible.union(context.noticesWithoutStore)
    try context.store.update { $0.notices.dismiss() }
    context.noticesWithoutStore = []
    for identifier in shown {
      await sink.remove(identifier)
      context.announce(.noticeRemoved(identifier))
    }
  }

  /// Shows the Bluetooth notice at most once a day, and removes it when Bluetooth is on again.
  func updateBluetooth() async {
    guard context.framework.status == .bluetoothOff else { return await remove(.bluetoothOff) }
    let now = context.now
    guard context.state.notices.isBluetoothNoticeDue(at: now) else { return }
    let change = { (state: inout StoredState) in
      state.notices.lastBluetoothNotice = now
      state.notices.visible.insert(.bluetoothOff)
    }
    guard context.store.updateIfPossible(change) else { return }
    await sink.show(Notice(.bluetoothOff))
    context.announce(.noticeShown(.bluetoothOff))
  }

  /// True if the notice about an upload is over by all times that may be right, as one of a time ahead of them is.
  private var isUploadNoticeOver: Bool {
    guard let end = context.state.notices.uploadNoticeEnd,
      !context.isClockWrong || context.state.retention.trusted != nil
    else { return false }
    return context.retentionTimes.map { end.timeIntervalSince($0) }
      .allSatisfy { $0 <= 0 || $0 > RemovalRule.completedUploadSeconds }
  }

  /// Shows the notice about an upload for a limited time.
  func show(_ cause: Notice.Cause, forSeconds seconds: TimeInterval) async {
    let end = context.now.addingTimeInterval(seconds)
    await sink.show(Notice(cause))
    context.store.updateIfPossible { state in
      state.notices.uploadNoticeEnd = end
      state.notices.visible.insert(.upload)
    }
    context.announce(.noticeShown(.upload))
  }

  /// Removes a notice if it is shown.
  func remove(_ identifier: Notice.Identifier) async {
    let isShown = context.state.notices.visible.contains(identifier)
    guard context.noticesWithoutStore.remove(identifier) != nil || isShown else { return }
    await sink.remove(identifier)
    context.store.updateIfPossible { $0.notices.visible.remove(identifier) }
    context.announce(.noticeRemoved(identifier))
  }

  /// Shows the notices whose cause has lasted long enough, each once, and removes those whose cause is
  /// resolved.
  func updateStanding() async {
    await updateRisk()
    if isUploadNoticeOver { await remove(.upload) }
    await set(isPermissionLost ? .permissionLost : nil, of: .permissionLost)
    await set(context.isClockWrong ? .clockWrong : nil, of: .clockWrong)
    await set(context.lastingFailure.map(Notice.Cause.checksFailing), of: .checksFailing)
    await set(damageCause, of: .storageDamaged)
  }

  /// Shows the notice with this cause unless one of its kind is shown already, or removes it if there is no cause.
  private func set(_ cause: Notice.Cause?, of identifier: Notice.Identifier) async {
    guard let cause else { return await remove(identifier) }
    let isShown = context.state.notices.visible.contains(identifier)
    guard !isShown, !context.noticesWithoutStore.contains(identifier) else { return }
    await sink.show(Notice(cause))
    do { try context.store.update { $0.notices.visible.insert(identifier) } } catch {
      context.noticesWithoutStore.insert(identifier)
    }
    context.announce(.noticeShown(identifier))
  }

  /// True if the user had allowed exposure notifications and does not any more. Nothing is known while the framework
  /// cannot read the user's decision.
  private var isPermissionLost: Bool {
    context.state.wasAuthorized && context.authorizationStatus() != .authorized
      && context.framework.status != .unknown
  }

  /// The damage that is neither repaired nor acknowledged by the user.
  private var damageCause: Notice.Cause? {
    guard context.store.condition.advice == nil else { return .storage(context.store.condition) }
    let contents = context.storageDamage.map(\.content)
    return contents.isEmpty ? nil : .damage(DataDamage.Content.allCases.filter(contents.contains))
  }
}

/// The timing of notices.
public enum NoticeRule {
  /// The time without a complete check after which the user is told, in seconds.
  public static let failingSeconds: TimeInterval = 2 * RemovalRule.daySeconds
}
