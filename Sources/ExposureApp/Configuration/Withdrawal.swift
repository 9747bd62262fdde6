import ExposureNotification
import Foundation
import KeyServerAPI
import World

extension ExposureApp {
  /// Undoes the exposures that were found through newly withdrawn files.
  ///
  /// The framework forgets first: if the app is killed in between, the next check does both again.
  func undoWithdrawn(_ withdrawn: Set<KeyFileHash>) async throws {
    let new = withdrawn.subtracting(store.state.deviceConfiguration?.undone ?? [])
    guard !new.isEmpty else { return }
    try await trust.withdraw(new)
    let detectsAgain = configuration.windowRisk != nil
    let thresholds = remote.riskLevelConfiguration
    let now = clock.now
    try store.update { state in
      state.undo(new)
      state.deviceConfiguration?.undone = withdrawn
      state.mustDetectAgain = detectsAgain
      state.notices.setLevel(
        RiskAssessment(thresholds: thresholds).level(of: state.exposures, at: now))
    }
    if riskLevel <= .none { await notices.remove(.risk) }
  }

  /// True if `file` is withdrawn and must not be analysed.
  func isWithdrawn(_ file: URL) -> Bool {
    guard let withdrawn = deviceConfiguration?.withdrawn, !withdrawn.isEmpty,
      let hash = KeyFileHash(ofFile: file)
    else { return false }
    return withdrawn.contains(hash)
  }
}

extension StoredState {
  /// Removes the encounters of detections that included a withdrawn file. The other files of those detections
  /// are wanted again, because version 1 of the framework does not tell which file an encounter is from.
  mutating func undo(_ withdrawn: Set<KeyFileHash>) {
    let isUndone = { (exposure: Exposure) in
      exposure.files?.contains { withdrawn.contains($0.hash) } ?? false
    }
    let files = Set(exposures.filter(isUndone).flatMap { $0.files ?? [] })
    exposures.removeAll(where: isUndone)
    download.wantAgain(Set(files.filter { !withdrawn.contains($0.hash) }.map(\.name)))
  }
}

extension Device: KeyFileTrust {
  public func trust(_ keys: [DeviceConfiguration.Key]) throws {
    try setTrustedKeys(
      keys.map { (keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey) })
  }

  public func withdraw(_ files: Set<KeyFileHash>) async throws {
    try await withdraw(digests: Set(files.map(\.bytes)))
  }
}
