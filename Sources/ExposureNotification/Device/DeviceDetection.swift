import Dispatch
import ExposureKeys
import Foundation
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
      rules: rules, keyFiles: files, earlierKeys: earlier, received: received,
      now: now, secret: ProbeSecret(from: randomness), progress: progress)
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
