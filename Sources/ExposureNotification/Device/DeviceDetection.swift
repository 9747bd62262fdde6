import Dispatch
import ExposureKeys
import Foundation
import Logging
import SealedStorage
import World

// Searching for exposures: compares key files with contacts, on this device only.
extension Device {
  /// Runs a detection over `keyFiles` and, in API version 2, over the keys that earlier ones kept; nil
  /// means those keys alone. A cancelled or failed detection changes nothing but the quotas.
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
    // Before the contacts are read: if they are removed from here on, `end` fails.
    let begun = try await detectionStore.begin(call(rules, files, at: now))
    let received = try await contacts.received(atMost: sightingsPerDetection)
    let earlier = apiVersion == 2 ? try await detectionStore.retainedKeys(at: now) : []
    let detection = Detection(
      rules: rules, keyFiles: files, earlierKeys: earlier.map(\.key), received: received,
      now: now, secret: ProbeSecret(from: randomness), progress: progress)
    let ledger = try await Self.search(detection)
    guard !progress.isCancelled else { throw CancellationError() }
    let result = detection.result(of: ledger)
    let retained = apiVersion == 2 ? Self.retained(ledger, of: files, after: earlier, at: now) : nil
    try await detectionStore.end(begun, with: result, retaining: retained)
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

  /// A key keeps the date when it was first passed in, and the digests of its files.
  private static func retained(
    _ ledger: MatchLedger, of files: [URL], after earlier: [RetainedKey], at now: Date
  ) -> [RetainedKey] {
    let known = Dictionary(
      earlier.map { ($0.key.key, $0) }, uniquingKeysWith: { first, _ in first })
    var digests: [Int: Data] = [:]
    return ledger.keysToKeep.map { key in
      let indices = ledger.files(of: key)
      for index in indices where digests[index] == nil {
        digests[index] = KeyFileDigest.of(files[index])
      }
      let before = known[key.key]
      return RetainedKey(
        key: key, since: before?.since ?? now,
        files: (before?.files ?? []).union(indices.compactMap { digests[$0] }))
    }
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

/// Limits detections and holds the result of the last one.
///
/// The quotas and the keys for later detections are sealed on the disk, so that a restart lifts no
/// limit. The result is never written.
actor DetectionStore {
  private let file: SealedFile
  private let keys: RetainedKeyStore
  private let logger: Logger
  private var history: DetectionHistory
  private var last: DetectionResult?
  /// The number of calls of `removeAll`. A detection that began before one must not store its result.
  private var removals = 0

  init(file: SealedFile, keys: RetainedKeyStore, logger: Logger) {
    self.file = file
    self.keys = keys
    self.logger = logger
    history = Self.storedHistory(in: file, logger: logger)
  }

  /// Counts `call` and returns the value to pass to `end`.
  ///
  /// - Throws: `.rateLimited` if a limit is exceeded.
  func begin(_ call: DetectionCall) throws(ENError) -> Int {
    try history.take(call)
    save()
    return removals
  }

  func retainedKeys(at now: Date) throws(SealedStorageError) -> [RetainedKey] {
    try keys.read(at: now)
  }

  /// Replaces the last result with `result` and, unless it is nil, the retained keys with `retained`.
  ///
  /// - Throws: `SealedStorageError` if the keys could not be stored: then nothing has changed, and the
  ///   app passes its files again. `CancellationError` after a `removeAll` since `begin`.
  func end(_ begun: Int, with result: DetectionResult, retaining retained: [RetainedKey]?) throws {
    guard begun == removals else { throw CancellationError() }
    if let retained { try keys.replace(with: retained) }
    last = result
  }

  /// Replaces the retained keys outside a detection.
  func replaceRetainedKeys(with retained: [RetainedKey]) throws(SealedStorageError) {
    try keys.replace(with: retained)
  }

  func forgetResult() { last = nil }

  /// - Throws: `.badParameter` if `summary` is not the summary of the last detection.
  func result(of summary: ExposureSummary) throws(ENError) -> DetectionResult {
    guard let last, last.found == summary else {
      throw ENError(.badParameter, explanation: Self.otherSummary)
    }
    return last
  }

  /// Removes the result and the retained keys. The quotas stay: removing data must not lift a limit.
  func removeAll() throws(SealedStorageError) {
    removals += 1
    last = nil
    try keys.removeAll()
  }

  private static let otherSummary =
    "The summary is not that of the last detection; detect again and pass the new summary."

  private func save() {
    do throws(SealedStorageError) {
      guard let content = try? JSONEncoder().encode(StoredHistory(history)) else { return }
      try file.replace(with: content)
    } catch {
      logger.warning("storing the detection quotas failed: \(error)")
    }
  }

  private static func storedHistory(in file: SealedFile, logger: Logger) -> DetectionHistory {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return DetectionHistory() }
      let stored = try? JSONDecoder().decode(StoredHistory.self, from: content)
      return stored?.history ?? DetectionHistory()
    } catch {
      logger.warning("reading the detection quotas failed: \(error); counting starts at zero")
      if error == .damaged { _ = try? file.setAside() }
      return DetectionHistory()
    }
  }
}
