// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import World

/// Keeps the stored data in order: records damage, and removes what has expired.
final class Housekeeping {
  private let context: AppContext
  /// The damage that was found in the framework's storage.
  let damage: @Sendable () async -> [DataDamage]
  /// The uptime of the last removal of old data; `nil` before the first since the start.
  private var uptime: TimeInterval?

  init(_ context: AppContext, damage: @escaping @Sendable () async -> [DataDamage]) {
    self.context = context
    self.damage = damage
  }

  /// Records the files of the app that were rebuilt when they were opened.
  func noteOwn() {
    let now = context.now
    if context.uploads.takeDamage() { note(DataDamage(.upload, found: now)) }
    for file in context.store.takeRebuilt() {
      switch file {
      case .marker: note(DataDamage(.appMarker, found: now))
      case .state:
        // The state after a loss contains the damage.
        context.store.updateIfPossible { _ in }
        for damage in context.storageDamage { context.announce(.storageDamaged(damage)) }
      }
    }
  }

  /// Records new damage of the framework's files. Returns `true` if results were lost.
  @discardableResult func noteSystem() async -> Bool {
    let known = context.state.damage.recoveringSince
    for damage in await damage() { note(damage) }
    return context.state.damage.recoveringSince != known
  }

  private func note(_ damage: DataDamage) {
    var isNew = false
    do { try context.store.update { isNew = $0.note(damage) } } catch {
      context.logger.error("storing a report of damage failed", metadata: ["error": "\(error)"])
    }
    guard isNew else { return }
    context.logger.warning(
      "stored data is damaged", metadata: ["content": "\(damage.content.rawValue)"])
    context.announce(.storageDamaged(damage))
  }

  /// Removes expired data from the store.
  ///
  /// - Parameter isStoredLater: True at the start of a check, whose end stores the state. If the app is stopped
  ///   before, its next start removes the data again.
  func removeOldData(isStoredLater: Bool = false) throws(StorageFailure) {
    let reading = context.clock.reading
    let passed = uptime.map { reading.uptime - $0 }
    let change = { (state: inout StoredState) in state.removeOld(at: reading.time, passed: passed) }
    if isStoredLater {
      try context.store.keep(change)
    } else {
      try context.store.update(change)
    }
    uptime = reading.uptime
    removeOldUploads()
  }

  /// Removes expired parts of the upload record and updates `hasPendingUpload`. An unfinished upload stays until the
  /// user was notified of its end. A damaged record is set aside; the user then has to enter the PIN again.
  func removeOldUploads() {
    guard context.store.condition == .ready, context.runningUpload == nil else { return }
    do {
      try context.uploads.removeOld(
        at: context.retentionTimes, keepsPending: !context.isUploadEndNotified,
        keepsFollowUp: context.state.followUp?.isOpen ?? false)
      // A sharing that is not noted yet still needs the day.
      if context.uploads.pendingEnd == nil, !context.uploads.mayBeUnrecorded { forgetStatedDay() }
    } catch {
      context.logger.notice("removing old uploads failed", metadata: ["error": "\(error)"])
      noteOwn()
    }
  }

  /// Forgets the date that the user has stated for an upload that does not exist any more.
  func forgetStatedDay() {
    guard context.state.statedDay != nil || context.state.diagnosis != nil else { return }
    // If it cannot be stored, the next removal of old data repeats it.
    context.store.updateIfPossible { ($0.statedDay, $0.diagnosis) = (nil, nil) }
  }

  /// Records the last complete upload if the app was stopped, or the disk was full, after its record was stored and
  /// before its state was.
  func noteUnrecordedSharing() {
    guard context.store.condition == .ready, context.runningUpload == nil,
      context.uploads.mayBeUnrecorded
    else { return }
    // Without a readable record there is nothing to note; the damage is reported elsewhere.
    guard let record = try? context.uploads.load() else { return }
    if let completed = record.completed, isUnrecorded(completed) {
      let isOffered = record.followUp != nil
      // The record does not say if the user agreed to share the keys with other countries.
      let isNoted = context.store.updateIfPossible { state in
        state.noteSharing(at: completed.date)
        if isOffered { state.offerFollowUp(goesAbroad: false, at: completed.date) }
        state.diagnosis = nil
      }
      guard isNoted else { return }
    }
    context.uploads.noteRecorded()
  }

  private func isUnrecorded(_ completed: CompletedUpload) -> Bool {
    guard !context.retentionTimes.allSatisfy(completed.isExpired) else { return false }
    let shared = context.state.reportedTest?.shared ?? []
    return !shared.contains { abs($0.timeIntervalSince(completed.date)) < Self.sameMomentSeconds }
  }

  /// The largest difference of one moment in the two files, which store it in different forms, in seconds.
  private static let sameMomentSeconds: TimeInterval = 1
}
