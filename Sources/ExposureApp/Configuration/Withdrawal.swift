import ExposureNotification
import Foundation
import KeyServerAPI
import World

extension ExposureApp {
  /// Undoes the exposures that were found through newly withdrawn files, and makes files wanted whose
  /// withdrawal has ended.
  ///
  /// The framework's keys are removed first: if the app is killed before the next step, the next check repeats both.
  func followWithdrawals(_ withdrawn: Set<KeyFileHash>) async throws {
    let known = store.state.deviceConfiguration?.undone ?? [:]
    let new = withdrawn.subtracting(known.keys)
    let ended = known.filter { !withdrawn.contains($0.key) }
    guard !new.isEmpty || !ended.isEmpty else { return }
    if !new.isEmpty { try await trust.withdraw(new) }
    let detectsAgain = configuration.windowRisk != nil
    let thresholds = remote.riskLevelConfiguration
    let now = clock.now
    try store.update { state in
      if !new.isEmpty {
        state.undo(new)
        state.mustDetectAgain = detectsAgain
      }
      state.restore(
        Set(ended.filter { $0.value >= RemovalRule.oldestExposure(at: now) }.keys),
        knowsNames: !detectsAgain)
      state.deviceConfiguration?.note(undone: withdrawn, known: known, at: now)
      state.setNoticeLevel(at: now, by: thresholds)
    }
    if !new.isEmpty, riskLevel <= .none { await notices.remove(.risk) }
  }

  /// The hash of `file` if it is withdrawn and must not be analysed.
  func withdrawnHash(of file: URL) -> KeyFileHash? {
    guard let withdrawn = deviceConfiguration?.withdrawn, !withdrawn.isEmpty,
      let hash = KeyFileHash(ofFile: file), withdrawn.contains(hash)
    else { return nil }
    return hash
  }
}

extension StoredState {
  /// Removes the encounters of detections that included a withdrawn file. The other files of those detections
  /// are wanted again, because version 1 of the framework does not report the file of an encounter.
  mutating func undo(_ withdrawn: Set<KeyFileHash>) {
    let isUndone = { (exposure: Exposure) in
      exposure.files?.contains { withdrawn.contains($0.hash) } ?? false
    }
    let files = Set(exposures.filter(isUndone).flatMap { $0.files ?? [] })
    exposures.removeAll(where: isUndone)
    download.wantAgain(Set(files.filter { !withdrawn.contains($0.hash) }.map(\.name)))
    skip(files.filter { withdrawn.contains($0.hash) })
  }

  /// Remembers the names of withdrawn files that are not analysed, or whose encounters were undone.
  mutating func skip(_ files: some Sequence<AnalysedFile>) {
    deviceConfiguration?.skipped.formUnion(files)
  }

  /// Makes files wanted again whose withdrawal has ended.
  ///
  /// - Parameter knowsNames: True in version 1, in which only the remembered files have had an effect. In
  ///   version 2 the framework has forgotten the keys of others too, and all files are passed again.
  fileprivate mutating func restore(_ files: Set<KeyFileHash>, knowsNames: Bool) {
    guard !files.isEmpty, let skipped = deviceConfiguration?.skipped else { return }
    let ended = skipped.filter { files.contains($0.hash) }
    knowsNames ? download.wantAgain(Set(ended.map(\.name))) : download.restart()
  }
}

extension AcceptedConfiguration {
  /// Records that the document's withdrawals have been followed.
  fileprivate mutating func note(
    undone withdrawn: Set<KeyFileHash>, known: [KeyFileHash: Date], at now: Date
  ) {
    undone = Dictionary(withdrawn.map { ($0, known[$0] ?? now) }) { $1 }
    skipped = skipped.filter { withdrawn.contains($0.hash) }
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
