import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Stores the end of a check: the reason of a failure, and the time of the next check.
  ///
  /// - Returns: The outcome, which is a failure if a complete check could not be stored.
  func record(_ outcome: CheckOutcome) -> CheckOutcome {
    let now = clock.now
    let pause = store.state.serverPause.lasting(at: now)
    let failure = outcome.failure
    if let failure { logger.info("check failed", metadata: ["reason": "\(failure.rawValue)"]) }
    do {
      try store.update { state in
        if outcome != .paused { state.history.finish(failure, at: now) }
        state.schedule.finish(outcome, at: now, pause: pause, randomness: randomness)
      }
      unstoredFailure = nil
      return outcome
    } catch {
      unstoredFailure = failure ?? CheckFailure(error)
      return .failed(unstoredFailure ?? .storageUnavailable)
    }
  }

  /// The requests of a new check to the key server.
  func newKeyServer() -> RetryingNetwork {
    RetryingNetwork(
      network, pause: store.state.serverPause, clock: clock, randomness: randomness)
  }

  /// Requests a configuration from the key server, unless it has the stored version.
  ///
  /// - Returns: The response; `nil` if the configuration has not changed.
  func requestConfiguration(
    _ route: String, bytesMax: Int, isStored: Bool
  ) async throws -> NetworkResponse? {
    let version = isStored ? store.state.configurationVersions[route] : nil
    let response = try await keyServer.send(
      NetworkRequest(
        configuration.keyServer.appendingPathComponent(route), headers: version?.headers ?? [:],
        responseBytesMax: bytesMax))
    if response.status == 304, version != nil { return nil }
    guard response.status == 200 else { throw CheckFailure(status: response.status) }
    return response
  }

  /// The key server: that of the running check, or a new one.
  var keyServer: RetryingNetwork { checkServer ?? newKeyServer() }

  func keyFileDownload(from network: any Network) -> KeyFileDownload {
    KeyFileDownload(
      network: network, keyServer: configuration.keyServer, folder: keyFileFolder,
      settings: remote.diagnosisKeyDownloadConfiguration, logger: logger)
  }
}

extension CheckOutcome {
  /// The reason why the check was not complete.
  fileprivate var failure: CheckFailure? {
    if case .failed(let failure) = self { failure } else { nil }
  }
}

// Damage of stored data.
extension ExposureApp {
  /// The damage that is not resolved, oldest first.
  public var storageDamage: [DataDamage] { store.state.damage.open }

  /// Records that the user has read about damage, and removes its notice. Lost results stay reported until
  /// they have been computed again.
  public func acknowledgeDamage() async throws(StorageFailure) {
    try store.update { $0.damage.acknowledge() }
    await removeNotice(.storageDamaged)
    await updateStandingNotices()
  }

  /// Records the files of the app that were rebuilt when they were opened.
  func noteOwnDamage() {
    let now = clock.now
    if uploads.takeDamage() { note(DataDamage(.upload, found: now)) }
    for file in store.takeRebuilt() {
      switch file {
      case .marker: note(DataDamage(.appMarker, found: now))
      case .state:
        // The state after a loss contains the damage.
        try? store.update { _ in }
        for damage in storageDamage { announce(.storageDamaged(damage)) }
      }
    }
  }

  /// Records new damage of the framework's files. Returns `true` if results were lost.
  @discardableResult
  func noteSystemDamage() async -> Bool {
    let known = store.state.damage.recoveringSince
    for damage in await damage() { note(damage) }
    return store.state.damage.recoveringSince != known
  }

  /// Removes expired parts of the upload record and updates `hasPendingUpload`. A damaged record is set aside;
  /// the user then has to enter the PIN again.
  func removeOldUploads() {
    guard store.condition == .ready, !isUploading else { return }
    let now = clock.now
    let times = store.state.retentionPeriod(at: now).times
    do {
      try uploads.removeOld(at: times.isEmpty ? [now] : times)
    } catch {
      logger.notice("removing old uploads failed", metadata: ["error": "\(error)"])
      noteOwnDamage()
    }
  }

  /// Reports damage that the program has found since the start or the last check.
  public func reportDamage() async {
    guard await !damage().isEmpty else { return }
    await noteSystemDamage()
    await updateStandingNotices()
  }

  func note(_ damage: DataDamage) {
    var isNew = false
    do {
      try store.update { isNew = $0.note(damage) }
    } catch {
      logger.error("storing a report of damage failed", metadata: ["error": "\(error)"])
    }
    guard isNew else { return }
    logger.warning("stored data is damaged", metadata: ["content": "\(damage.content.rawValue)"])
    announce(.storageDamaged(damage))
  }
}
