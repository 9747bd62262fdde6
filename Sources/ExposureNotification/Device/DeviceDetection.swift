// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Dispatch
import ExposureKeys
import Foundation
import SealedStorage
import Synchronization
import World

// Searching for exposures: compares key files with contacts, on this device only.
extension Device {
  /// Runs a detection over `keyFiles` and, in API version 2, over the keys that earlier ones kept; nil
  /// means those keys alone. A cancelled or failed detection changes nothing but the quotas, and one whose
  /// files are refused does not count.
  func detect(
    _ configuration: ENExposureConfiguration, keyFiles: [URL]?, progress: Progress
  ) async throws -> ExposureSummary {
    guard keyFiles != nil || apiVersion == 2 else { throw ENError(.unsupported) }
    try requireEnabled()
    let rules = try DetectionRules(
      configuration, apiVersion: apiVersion, durationStep: variant.durationStep,
      requiresFullDayKeys: variant.requiresFullDayKeys, region: region)
    return try await detectionMutex.withLock {
      try await self.detect(rules, keyFiles: keyFiles ?? [], progress).found
    }
  }

  private func detect(
    _ rules: DetectionRules, keyFiles: [URL], _ progress: Progress
  ) async throws -> DetectionResult {
    try requireEnabled()
    let now = clock.now
    let files = try Detection.filesToRead(keyFiles)
    let digests = apiVersion == 2 || variant == .ios13_5 ? files.map(KeyFileDigest.of) : []
    // Before the contacts are read: if they are removed from here on, `end` fails.
    let begun = try await detectionStore.begin(call(rules, digests, at: now))
    do {
      return try await detect(rules, files, digests, begun, progress)
    } catch let error as ENError where error.code == .badFormat {
      try await detectionStore.refuse(begun)
      throw error
    }
  }

  private func detect(
    _ rules: DetectionRules, _ files: [URL], _ digests: [Data?], _ begun: DetectionStore.Begun,
    _ progress: Progress
  ) async throws -> DetectionResult {
    let now = begun.call.time
    let period = retention.period(at: now)
    let received = try await contacts.received(atMost: sightingsPerDetection)
    let earlier =
      apiVersion == 2 ? try await detectionStore.retainedKeys(keeping: period, at: now) : []
    let detection = Detection(
      rules: rules, keyFiles: files, earlierKeys: earlier.map(\.key),
      changedKeys: earlier.filter(\.hasChanged).map(\.key), received: received, now: now,
      secret: ProbeSecret(from: randomness), progress: progress)
    let ledger = try await Self.search(detection)
    guard !progress.isCancelled else { throw CancellationError() }
    let result = detection.result(of: ledger)
    let retained =
      apiVersion == 2
      ? earlier.replaced(by: ledger, of: digests, keeping: period, at: now) : nil
    try await detectionStore.end(begun, with: result, retaining: retained, keeping: period)
    return result
  }

  private func call(_ rules: DetectionRules, _ digests: [Data?], at now: Date) -> DetectionCall {
    let files = Set(digests.compactMap(\.self))
    return DetectionCall(
      time: now,
      limit: variant == .ios13_5
        ? .newFiles(files, DeviceLimit.newFilesPerDay) : .calls(detectionsPerDay),
      map: rules.infectiousnessMap, changesMapFreely: entitlements.contains(.test),
      keyFiles: files)
  }

  /// The exposures of the last detection, after showing the user the app's explanation.
  func exposureInfo(
    of summary: ExposureSummary, explanation: String
  ) async throws -> [ScoredIncident] {
    guard apiVersion == 1 else { throw ENError(.unsupported) }
    try requireEnabled()
    let result = try await detectionStore.result(of: summary)
    guard try await consentStore.allows(.showExposureInfo(explanation: explanation)) else {
      throw ENError(.notAuthorized)
    }
    return result.incidents
  }

  /// The exposure windows of the last detection.
  func exposureWindows(of summary: ExposureSummary) async throws -> [ExposureWindow] {
    guard apiVersion == 2 else { throw ENError(.unsupported) }
    try requireEnabled()
    return try await detectionStore.result(of: summary).exposureWindows
  }

  /// Runs on a dispatch queue: minutes of matching must not block the concurrency thread pool.
  private static func search(_ detection: Detection) async throws -> MatchLedger {
    try await withCheckedThrowingContinuation { done in
      DispatchQueue.global(qos: .utility).async {
        done.resume(with: Result(catching: detection.search))
      }
    }
  }
}

/// The SHA-256 of a key file, by which a device recognizes files that it has processed.
enum KeyFileDigest {
  /// Returns nil if the file is unreadable; the detection reports that error.
  static func of(_ file: URL) -> Data? {
    var hash = SHA256()
    guard FileChunks.read(file, { hash.update(data: $0) }) else { return nil }
    return Data(hash.finalize())
  }
}

// The trust in key files, which the health authority may change.
extension Device {
  /// The region and the keys that are trusted now.
  package var region: RegionConfiguration { currentRegion.withLock { $0 } }

  /// Replaces the keys of the region's authority. From the next detection on, a key file must be signed by
  /// one of `keys`. They are not stored: a program sets them again after each start.
  ///
  /// - Throws: `RegionConfigurationError` if there are more than ten keys, or one is not a P-256 public key
  ///   in PEM; then nothing changes.
  public func setTrustedKeys(
    _ keys: [(keyID: String, keyVersion: String, publicKeyPEM: String)]
  ) throws(RegionConfigurationError) {
    guard keys.count <= StoredRegion.keysMax else { throw .tooLarge }
    var trusted: [VerificationPublicKey] = []
    for key in keys {
      do throws(KeyFileError) {
        trusted.append(
          try VerificationPublicKey(
            keyID: key.keyID, keyVersion: key.keyVersion, publicKeyPEM: key.publicKeyPEM))
      } catch {
        throw .notAPublicKey(version: key.keyVersion)
      }
    }
    currentRegion.withLock { $0 = RegionConfiguration(region: $0.region, keys: trusted) }
  }

  /// Forgets the keys that earlier detections of API version 2 found in no other files than these, and the
  /// last result. The next detection then reports no exposure to those keys.
  ///
  /// - Parameter digests: The SHA-256 digests of the withdrawn files.
  /// - Throws: `ENError` if the disk fails; call it again then.
  public func withdraw(digests: Set<Data>) async throws {
    try await detectionMutex.withLock {
      do {
        let now = self.clock.now
        try await self.detectionStore.withdraw(
          digests, keeping: self.retention.period(at: now), at: now)
      } catch let error as SealedStorageError {
        throw ENError(error)
      }
    }
  }
}
