import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// The device configuration in use; `nil` before the first one.
  public var deviceConfiguration: DeviceConfiguration? {
    guard let accepted = store.state.deviceConfiguration,
      accepted.root == configuration.rootKey.fingerprint
    else { return nil }
    return accepted.document
  }

  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  public var configurationRefusal: DeviceConfigurationError? { store.state.configurationRefusal }

  /// The health authority's instruction to pause, if it is in force.
  public var pause: DeviceConfiguration.Pause? {
    guard let document = deviceConfiguration, document.isPaused(at: clock.now) else { return nil }
    return document.pause
  }

  /// Prepares a check: fetches the device configuration, passes its keys to the framework, and undoes
  /// the exposures that were found through withdrawn files.
  ///
  /// - Throws: `CheckPause` during a pause, or `CheckFailure` without a usable document.
  func prepareCheck() async throws {
    let failure = await refreshDeviceConfiguration()
    guard let document = deviceConfiguration else { throw failure ?? CheckFailure.notConfigured }
    // Also during a pause: with API version 1 this needs no detection.
    try await followWithdrawals(Set(document.withdrawn))
    guard pause == nil else { throw CheckPause() }
    guard !trustedKeys.isEmpty else { throw failure ?? CheckFailure.notConfigured }
    do {
      try trust.trust(trustedKeys)
    } catch {
      logger.error("the framework refused the keys", metadata: ["error": "\(error)"])
      throw CheckFailure.notConfigured
    }
  }

  /// The keys of the document in use that are valid now.
  var trustedKeys: [DeviceConfiguration.Key] {
    deviceConfiguration?.keys(validAt: clock.now) ?? []
  }

  /// Downloads the device configuration and accepts it if the root key signed it, it has not expired, and its
  /// version is not lower than that of the current one. Otherwise the current one stays in use.
  ///
  /// - Returns: The reason why there is no new document; `nil` if the newest one is in use.
  @discardableResult
  func refreshDeviceConfiguration() async -> CheckFailure? {
    let route = KeyServerRoute.deviceConfiguration
    do {
      let response = try await requestConfiguration(
        route, bytesMax: DeviceConfigurationLimit.bytesMax, isStored: deviceConfiguration != nil)
      if let response {
        try accept(try UnverifiedDeviceConfiguration(decoding: response.body))
        if response.version != store.state.configurationVersions[route] {
          try store.update { $0.configurationVersions[route] = response.version }
        }
      }
      try keepRefusal(nil)
      return nil
    } catch let error as DeviceConfigurationError {
      logger.warning("\(error)")
      try? keepRefusal(error)
      return .notConfigured
    } catch {
      return CheckFailure(error)
    }
  }

  private func keepRefusal(_ refusal: DeviceConfigurationError?) throws {
    guard refusal != configurationRefusal else { return }
    try store.update { $0.configurationRefusal = refusal }
  }

  private func accept(_ received: UnverifiedDeviceConfiguration) throws {
    let root = configuration.rootKey
    let current = deviceConfiguration
    let document = try received.verified(
      by: root, notBefore: current?.version ?? 0, at: clock.now)
    guard document != current else { return }
    try store.update { state in
      state.deviceConfiguration = AcceptedConfiguration(
        root: root.fingerprint, document: document,
        undone: state.deviceConfiguration?.undone ?? [:],
        skipped: state.deviceConfiguration?.skipped ?? [])
    }
  }
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
}

extension KeyFileTrust {
  /// Does nothing, for a system that does not require lost files to be passed again.
  public func confirmKeyFilesPassed() async throws {}
}
