// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Removes expired data from the store.
  public func removeOldData() throws(StorageFailure) {
    let now = clock.now
    try store.update { $0.removeOld(at: now) }
    removeOldUploads()
  }

  /// Removes all exposures. The files they came from are not analysed again, so they do not return.
  public func removeExposures() async throws(StorageFailure) {
    try store.update {
      $0.removeExposures()
      $0.notices.forget(exceptFor: [:])
      $0.notices.visible.remove(.risk)
    }
    await notices.remove(.risk)
    announce(.removal)
  }

  /// Removes the exposures with these IDs; unknown IDs are ignored. The level of the other exposures applies.
  public func removeExposures(ids: Set<UUID>) async throws(StorageFailure) {
    try store.update { $0.removeExposures { ids.contains($0.id) } }
    let days = riskDays
    store.updateIfPossible { $0.notices.forget(exceptFor: days) }
    if !store.state.notices.isTrue(of: days) { await removeNotice(.risk) }
    announce(.removal)
  }

  /// Removes the checks with these IDs from the history; unknown IDs are ignored. The counts of keys stay.
  public func removeChecks(ids: Set<UUID>) throws(StorageFailure) {
    try store.update { $0.history.removeChecks(ids) }
    announce(.removal)
  }

  /// Removes the history of checks. The times of the last check and of the next one stay.
  public func removeHistory() throws(StorageFailure) {
    try store.update { $0.history.removeChecks() }
  }

  /// Removes all data of the app and turns exposure notifications off.
  ///
  /// Only the user can remove the system's own keys and received identifiers, in the system's settings.
  public func removeEverything() async throws {
    removals += 1
    isRemovingEverything = true
    defer { isRemovingEverything = false }
    // They would store their results after the removal.
    runningCheck?.cancel()
    runningUpload?.cancel()
    _ = await runningCheck?.value
    _ = await runningUpload?.value
    // The data is removed in any case; if the framework stays on, the status shows it.
    if authorizationStatus() == .authorized { try? await disable() }
    if FileManager.default.fileExists(atPath: keyFileFolder.path) {
      try FileManager.default.removeItem(at: keyFileFolder)
    }
    try store.removeEverything()
    tellSystemOfClock()
    uploads.reset()
    continuation = UploadContinuation()
    remote = .protegoDefault
    unstoredFailure = nil
    noticesWithoutStore = []
    for identifier in Notice.Identifier.allCases { await notices.remove(identifier) }
    announce(.removal)
  }

  /// Removes expired parts of the upload record and updates `hasPendingUpload`. An unfinished upload stays until the
  /// user was notified of its end. A damaged record is set aside; the user then has to enter the PIN again.
  func removeOldUploads() {
    guard store.condition == .ready, runningUpload == nil else { return }
    let now = clock.now
    let times = store.state.retentionPeriod(at: now).times
    do {
      try uploads.removeOld(
        at: times.isEmpty ? [now] : times, keepsPending: !isUploadEndNotified)
      // A sharing that is not noted yet still needs the day.
      if uploads.pendingEnd == nil, !uploads.mayBeUnrecorded { forgetStatedDay() }
    } catch {
      logger.notice("removing old uploads failed", metadata: ["error": "\(error)"])
      noteOwnDamage()
    }
  }
}
