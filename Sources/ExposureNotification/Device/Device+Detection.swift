import Dispatch
import ExposureKeys
import Foundation
import World

// Looking for exposures: key files against contacts, on this phone only.
extension Device {
  /// One detection over `keyFiles` and, in version 2, over what earlier ones kept; nil files mean
  /// those alone. A cancelled or failed one leaves everything as it was.
  func detect(
    _ configuration: Handoff<ENExposureConfiguration>, keyFiles: [URL]?, progress: Progress
  ) async throws -> Handoff<ENExposureDetectionSummary> {
    guard keyFiles != nil || apiVersion == 2 else { throw ENError(.unsupported) }
    try requireEnabled()
    let rules = try DetectionRules(
      configuration.value, apiVersion: apiVersion, durationStep: variant.durationStep,
      requiresFullDayKeys: variant.requiresFullDayKeys, region: region)
    return try await detectionTurns.take {
      Handoff(try await self.detect(rules, keyFiles: keyFiles ?? [], progress).summary)
    }
  }

  private func detect(
    _ rules: DetectionRules, keyFiles: [URL], _ progress: Progress
  ) async throws -> DetectionResult {
    try requireEnabled()
    let now = clock.now
    let files = try Detection.filesToRead(keyFiles)
    // Before contacts are read, so that none are used which were removed meanwhile.
    let begun = try await detections.begin(call(rules, files, at: now))
    let sightings = try await contacts.sightings(atMost: sightingsPerDetection)
    let earlier = apiVersion == 2 ? try await detections.keptKeys(at: now) : []
    let detection = Detection(
      rules: rules, keyFiles: files, earlierKeys: earlier.map(\.key), sightings: sightings,
      now: now, secret: ProbeSecret(from: randomness), progress: progress)
    let ledger = try await Self.search(detection)
    guard !progress.isCancelled else { throw CancellationError() }
    let result = detection.result(of: ledger)
    let kept = apiVersion == 2 ? Self.kept(ledger.keysToKeep, after: earlier, at: now) : nil
    try await detections.end(begun, with: result, keeping: kept)
    return result
  }

  private func call(_ rules: DetectionRules, _ files: [URL], at now: Date) -> DetectionCall {
    let limit: DetectionCall.Limit =
      variant == .ios13_5
      ? .newFiles(Set(files.compactMap(KeyFileDigest.of)), DeviceLimit.newFilesPerDay)
      : .calls(detectionsPerDay)
    return DetectionCall(
      time: now, limit: limit, map: rules.infectiousnessMap,
      changesMapFreely: entitlements.contains(.test))
  }

  /// A key keeps the date it was first handed in.
  private static func kept(
    _ keys: [DiagnosisKey], after earlier: [KeptKey], at now: Date
  ) -> [KeptKey] {
    let since = Dictionary(
      earlier.map { ($0.key.key, $0.since) }, uniquingKeysWith: { first, _ in first })
    return keys.map { KeptKey(key: $0, since: since[$0.key] ?? now) }
  }

  /// The exposures of the last detection, after telling the person why the app looks at them.
  func exposureInfo(
    of summary: ExposureSummary, explanation: String
  ) async throws -> Handoff<[ENExposureInfo]> {
    guard apiVersion == 1 else { throw ENError(.unsupported) }
    try requireEnabled()
    let result = try await detections.result(of: summary)
    guard try await permissions.allows(.showExposureInfo(explanation: explanation)) else {
      throw ENError(.notAuthorized)
    }
    return Handoff(result.infos)
  }

  /// The exposure windows of the last detection.
  func exposureWindows(of summary: ExposureSummary) async throws -> Handoff<[ENExposureWindow]> {
    guard apiVersion == 2 else { throw ENError(.unsupported) }
    try requireEnabled()
    return Handoff(try await detections.result(of: summary).windows)
  }

  /// On a thread of its own: minutes of matching must not keep the radio's calls waiting.
  private static func search(_ detection: Detection) async throws -> MatchLedger {
    try await withCheckedThrowingContinuation { done in
      DispatchQueue.global(qos: .utility).async {
        done.resume(with: Result(catching: detection.search))
      }
    }
  }
}
