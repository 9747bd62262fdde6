// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Removes expired data from the store.
  public func removeOldData() throws(StorageFailure) { try housekeeping.removeOldData() }

  /// Removes all exposures. The files they came from are not analysed again, so they do not return.
  public func removeExposures() async throws(StorageFailure) {
    try context.store.update {
      $0.removeExposures()
      $0.notices.forget(exceptFor: [:])
      $0.notices.visible.remove(.risk)
    }
    await notices.sink.remove(.risk)
    context.announce(.removal)
  }

  /// Removes the exposures with these IDs; unknown IDs are ignored. The level of the other exposures applies.
  public func removeExposures(ids: Set<UUID>) async throws(StorageFailure) {
    try context.store.update { $0.removeExposures { ids.contains($0.id) } }
    let days = context.riskDays
    context.store.updateIfPossible { $0.notices.forget(exceptFor: days) }
    if !context.state.notices.isTrue(of: days) { await notices.remove(.risk) }
    context.announce(.removal)
  }

  /// Removes the checks with these IDs from the history; unknown IDs are ignored. The counts of keys stay.
  public func removeChecks(ids: Set<UUID>) throws(StorageFailure) {
    try context.store.update { $0.history.removeChecks(ids) }
    context.announce(.removal)
  }

  /// Removes the history of checks. The times of the last check and of the next one stay.
  public func removeHistory() throws(StorageFailure) {
    try context.store.update { $0.history.removeChecks() }
  }

  /// Removes all data of the app and turns exposure notifications off.
  ///
  /// Only the user can remove the system's own keys and received identifiers, in the system's settings.
  public func removeEverything() async throws {
    context.removals += 1
    isRemovingEverything = true
    defer { isRemovingEverything = false }
    // They would store their results after the removal.
    context.runningCheck?.cancel()
    context.runningUpload?.cancel()
    _ = await context.runningCheck?.value
    _ = await context.runningUpload?.value
    // The data is removed in any case; if the framework stays on, the status shows it.
    if context.authorizationStatus() == .authorized { try? await disable() }
    if FileManager.default.fileExists(atPath: context.keyFileFolder.path) {
      try FileManager.default.removeItem(at: context.keyFileFolder)
    }
    try context.store.removeEverything()
    configuration.clock.tellSystem()
    context.uploads.reset()
    continuation = UploadContinuation()
    context.remote = .protegoDefault
    context.unstoredFailure = nil
    context.followUpFailure = nil
    context.noticesWithoutStore = []
    for identifier in Notice.Identifier.allCases { await notices.sink.remove(identifier) }
    context.announce(.removal)
  }
}
