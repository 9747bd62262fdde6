import ExposureNotification
import Foundation
import KeyServerAPI
import World

extension ExposureApp {
  /// Removes what is too old from the store. Documentation/App.md 6.1.
  public func removeOldData() throws(StorageFailure) {
    let now = clock.now
    let level = { [remote] (exposures: [Exposure]) in
      RiskAssessment(thresholds: remote.riskLevelConfiguration).level(of: exposures, at: now)
    }
    try store.update {
      $0.removeOld(at: now)
      $0.notices.levelIs(level($0.exposures))
    }
  }

  /// Removes the exposures, as a person does who is well again (bridge 66). What was analysed is
  /// not analysed again, so they do not come back.
  public func removeExposures() async throws(StorageFailure) {
    try store.update {
      $0.removeExposures()
      $0.notices.levelIs(.none)
    }
    await notices.remove(.risk)
  }

  /// Removes everything the app has on this phone and turns exposure notifications off (bridge 37).
  /// What the system itself has heard, and its keys, are removed in the system's own settings; an
  /// app cannot. Documentation/App.md 6.3.
  public func removeEverything() async throws {
    if authorizationStatus() == .authorized { try? await disable() }
    if FileManager.default.fileExists(atPath: keyFileFolder.path) {
      try FileManager.default.removeItem(at: keyFileFolder)
    }
    try store.removeEverything()
    remote = .protegoDefault
    for identifier in Notice.Identifier.allCases { await notices.remove(identifier) }
  }
}
