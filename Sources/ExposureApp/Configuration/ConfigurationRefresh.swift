// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import World

/// Downloads and accepts the health authority's documents, and follows them.
final class ConfigurationRefresh {
  private let context: AppContext
  private let trust: any KeyFileTrust
  /// The server of the running check.
  var checkServer: RetryingNetwork?
  let clock: PhoneClock

  init(_ context: AppContext, trust: any KeyFileTrust) {
    self.context = context
    self.trust = trust
    clock = PhoneClock(context, trust: trust)
  }

  /// Prepares a check: fetches the device configuration, passes its keys to the framework, and undoes
  /// the exposures that were found through withdrawn files.
  ///
  /// - Throws: `CheckPause` during a pause, or `CheckFailure` without a usable document.
  func prepareCheck() async throws {
    let failure = await refreshDeviceConfiguration()
    let now = context.now
    // A later time was stored before the clock was set back.
    let since = failure.map { _ in min(context.state.configurationFailingSince ?? now, now) }
    if since != context.state.configurationFailingSince {
      try context.store.update { $0.configurationFailingSince = since }
    }
    guard let document = context.deviceConfiguration else {
      throw failure ?? CheckFailure.notConfigured
    }
    // Also during a pause: with API version 1 this needs no detection.
    try await followWithdrawals(Set(document.withdrawn))
    guard context.pause == nil else { throw CheckPause() }
    guard !trustedKeys.isEmpty else { throw failure ?? CheckFailure.notConfigured }
    do { try trust.trust(trustedKeys) } catch {
      context.logger.error("the framework refused the keys", metadata: ["error": "\(error)"])
      throw CheckFailure.notConfigured
    }
    let keys = Set(trustedKeys)
    guard keys != context.state.trustedKeys else { return }
    // A file that was refused for an unknown key may be accepted now.
    try context.store.update {
      $0.trustedKeys = keys
      $0.download.search.startOver()
    }
  }

  /// The keys of the document in use that are valid now.
  var trustedKeys: [DeviceConfiguration.Key] {
    context.deviceConfiguration?.keys(validAt: context.now) ?? []
  }

  /// Downloads the device configuration and accepts it if the root key signed it, it has not expired, and its
  /// version is not lower than that of the current one. Otherwise the current one stays in use.
  ///
  /// - Returns: The reason why there is no new document; `nil` if the newest one is in use.
  @discardableResult func refreshDeviceConfiguration() async -> CheckFailure? {
    await refreshDeviceConfiguration(from: currentKeyServer())
  }

  private func refreshDeviceConfiguration(from server: RetryingNetwork) async -> CheckFailure? {
    let route = KeyServerRoute.deviceConfiguration
    do {
      let response = try await requestConfiguration(
        route, from: server, bytesMax: DeviceConfigurationLimit.bytesMax,
        isStored: context.deviceConfiguration != nil)
      if let response {
        let received = try UnverifiedDeviceConfiguration(decoding: response.body)
        _ = try received.verified(by: context.configuration.rootKey)
        // The document may seem expired because of a wrong clock.
        await server.accept(response)
        try accept(received)
        if response.version != context.state.configurationVersions[route] {
          try context.store.update { $0.configurationVersions[route] = response.version }
        }
      } else if let document = context.deviceConfiguration, document.isExpired(at: context.now) {
        // The server still has the document that the phone has accepted before it expired.
        throw DeviceConfigurationError.expired(document.expires)
      }
      try keepRefusal(nil)
      return nil
    } catch let error as DeviceConfigurationError {
      context.logger.warning("\(error)")
      // The check fails with the same reason in any case; if it was not stored, the next check stores it.
      try? keepRefusal(error)
      return .notConfigured
    } catch { return CheckFailure(error) }
  }

  /// Requests the device configuration and compares the phone's clock with the response, also outside a check.
  ///
  /// - Parameter decoy: When a decoy may ask the verification server for the time.
  /// - Returns: False if the server has neither stated a time nor returned a document that is in use.
  @discardableResult
  func compareClock(decoy: ClockDecoy = .ifUnknown) async -> Bool {
    let server = currentKeyServer()
    let failure = await refreshDeviceConfiguration(from: server)
    await clock.compare(with: server, decoy: decoy)
    let comparison = await server.clockComparison
    return failure == nil || comparison.secondsAhead != nil
  }

  /// True if the phone seems to be in a pause because its clock is wrong.
  var isPauseOfWrongClock: Bool {
    guard context.isClockWrong, let ahead = context.state.clockRecord?.lastWrong?.secondsAhead
    else { return context.isClockWrong }
    return context.deviceConfiguration?.isPaused(at: context.now.addingTimeInterval(-ahead)) != true
  }

  private func keepRefusal(_ refusal: DeviceConfigurationError?) throws {
    guard refusal != context.state.configurationRefusal else { return }
    try context.store.update { $0.configurationRefusal = refusal }
  }

  private func accept(_ received: UnverifiedDeviceConfiguration) throws {
    let root = context.configuration.rootKey
    let current = context.deviceConfiguration
    let document = try received.verified(
      by: root, notBefore: current?.version ?? 0, at: context.now)
    guard document != current else { return }
    try context.store.update { state in
      state.deviceConfiguration = AcceptedConfiguration(
        root: root.fingerprint, document: document,
        undone: state.deviceConfiguration?.undone ?? [:],
        skipped: state.deviceConfiguration?.skipped ?? [])
    }
  }

  /// Downloads the remote configuration. It is accepted only if a key of the device configuration signed it
  /// and the version is not lower than any accepted before; otherwise the current one stays in use.
  func refreshConfiguration() async {
    let route = KeyServerRoute.remoteConfiguration
    let server = currentKeyServer()
    do {
      let response = try await requestConfiguration(
        route, from: server, bytesMax: UnverifiedRemoteConfiguration.bytesMax,
        isStored: context.state.remoteConfiguration != nil)
      guard let response else { return }
      let verified = try UnverifiedRemoteConfiguration(decoding: response.body).verified(
        by: remoteConfigurationKeys, notBefore: context.state.remoteConfiguration?.version ?? 0)
      await server.accept(response)
      try context.store.update {
        $0.remoteConfiguration = verified
        $0.configurationVersions[route] = response.version
      }
      context.remote = verified
    } catch let error as RemoteConfigurationError {
      context.logger.notice("remote configuration rejected: \(error)")
    } catch {
      // The current configuration stays in use; the following download reports a lost connection.
    }
  }

  private var remoteConfigurationKeys: [RemoteConfigurationKey] {
    trustedKeys.compactMap {
      // The keys were checked when their document was accepted.
      try? RemoteConfigurationKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey)
    }
  }

  /// Requests a configuration from the key server, unless it has the stored version.
  ///
  /// - Returns: The response; `nil` if the configuration has not changed.
  private func requestConfiguration(
    _ route: String, from server: RetryingNetwork, bytesMax: Int, isStored: Bool
  ) async throws -> NetworkResponse? {
    let version = isStored ? context.state.configurationVersions[route] : nil
    let response = try await server.send(
      NetworkRequest(
        context.configuration.keyServer.appendingPathComponent(route),
        headers: version?.headers ?? [:], responseBytesMax: bytesMax))
    if response.status == 304, version != nil {
      await server.accept(response)
      return nil
    }
    guard response.status == 200 else { throw CheckFailure(status: response.status) }
    guard !response.isPage else { throw CheckFailure.portal }
    return response
  }

  /// Undoes the exposures that were found through newly withdrawn files, and makes files wanted whose
  /// withdrawal has ended.
  ///
  /// The framework's keys are removed first: if the app is killed before the next step, the next check repeats both.
  func followWithdrawals(_ withdrawn: Set<KeyFileHash>) async throws {
    let known = context.state.deviceConfiguration?.undone ?? [:]
    let new = withdrawn.subtracting(known.keys)
    let ended = known.filter { !withdrawn.contains($0.key) }
    guard !new.isEmpty || !ended.isEmpty else { return }
    if !new.isEmpty { try await trust.withdraw(new) }
    let detectsAgain = context.configuration.windowRisk != nil
    let now = context.now
    try context.store.update { state in
      if !new.isEmpty {
        state.undo(new)
        state.mustDetectAgain = detectsAgain
      }
      state.restore(
        Set(ended.filter { $0.value >= RemovalRule.oldestExposure(at: now) }.keys),
        knowsNames: !detectsAgain)
      state.deviceConfiguration?.note(undone: withdrawn, known: known, at: now)
    }
  }

  /// The hash of `file` if it is withdrawn and must not be analysed.
  func withdrawnHash(of file: URL) -> KeyFileHash? {
    guard let withdrawn = context.deviceConfiguration?.withdrawn, !withdrawn.isEmpty,
      let hash = KeyFileHash(ofFile: file), withdrawn.contains(hash)
    else { return nil }
    return hash
  }

  /// Makes the connection to the key server for a new check.
  func makeKeyServer() -> RetryingNetwork {
    RetryingNetwork(
      context.network, pause: context.state.serverPause, clock: context.clock,
      randomness: context.randomness)
  }

  /// The connection of the running check, or a new one.
  func currentKeyServer() -> RetryingNetwork { checkServer ?? makeKeyServer() }
}

/// Thrown by a check that the health authority's pause prevents.
struct CheckPause: Error {}

/// The newest accepted device configuration, as stored. The property names are the JSON keys on disk.
struct AcceptedConfiguration: Codable, Sendable, Equatable {
  /// The fingerprint of the root key. A document of another root key does not count.
  var root: Data
  /// The document without its signature: the store is sealed.
  var document: DeviceConfiguration
  /// The withdrawn files whose exposures have been undone, and the time of that.
  var undone: [KeyFileHash: Date]
  /// The withdrawn files whose names are known.
  var skipped: Set<AnalysedFile>
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
    let rollUps = download.rollUps(among: withdrawn)
    download.wantAgain(
      Set(files.filter { !withdrawn.contains($0.hash) }.map(\.name)).union(rollUps))
    skip(files.filter { withdrawn.contains($0.hash) && !rollUps.contains($0.name) })
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

/// The system's trust in key files, which the device configuration changes.
public protocol KeyFileTrust: Sendable {
  /// Accepts key files that one of `keys` signed, and no others.
  ///
  /// - Throws: If a key is not valid; then nothing changes.
  func trust(_ keys: [DeviceConfiguration.Key]) throws

  /// Removes the keys that the framework has read in these files only.
  ///
  /// - Throws: If the disk fails; then it is called again by the next check.
  func withdraw(_ files: Set<KeyFileHash>) async throws

  /// Tells the framework that all available files have been passed again after it lost results. The server has
  /// removed the missing ones.
  ///
  /// - Throws: If that could not be stored; then it is called again by the next check.
  func confirmKeyFilesPassed() async throws

  /// Returns `true` if the framework accepts signed files with this region in their headers.
  func isOwnRegion(_ region: String) -> Bool

  /// Tells the framework whether the phone's clock is wrong, so that it removes no data by a wrong time. It is called
  /// at the start and after comparisons.
  ///
  /// - Parameters:
  ///   - isWrong: True if the clock is wrong.
  ///   - secondsAhead: The seconds by which it is ahead; `nil` if the difference is not known.
  func setClock(isWrong: Bool, secondsAhead: TimeInterval?)
}

extension KeyFileTrust {
  /// Does nothing, for a system that does not require lost files to be passed again.
  public func confirmKeyFilesPassed() async throws {}

  /// True, for a system that refuses files of other regions itself.
  public func isOwnRegion(_ region: String) -> Bool { true }

  /// Does nothing, for a system that keeps its own time.
  public func setClock(isWrong: Bool, secondsAhead: TimeInterval?) {}
}

extension Device: KeyFileTrust {
  public func trust(_ keys: [DeviceConfiguration.Key]) throws {
    try setTrustedKeys(
      keys.map { (keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey) })
  }

  public func isOwnRegion(_ region: String) -> Bool { self.region.isNamed(region) }

  public func withdraw(_ files: Set<KeyFileHash>) async throws {
    try await withdraw(digests: Set(files.map(\.bytes)))
  }
}
