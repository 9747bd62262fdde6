// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TextEncodings
import World

/// Limits detections and holds the result of the last one.
///
/// The quotas and the keys for later detections are sealed on the disk, so that a restart lifts no
/// limit. The result is never written.
actor DetectionStore {
  /// A counted call.
  struct Begun: Sendable {
    let call: DetectionCall
    /// The history before the call.
    fileprivate let earlier: DetectionHistory
    fileprivate let removals: Int
  }

  private let file: SealedFile
  private let keys: RetainedKeyStore
  private let reports: DamageReports
  /// The stored history; nil until it has been read.
  private var history: DetectionHistory?
  private var last: KeptResult?
  /// The number of removals. A detection that began before one must not store its result.
  private var removals = 0

  init(file: SealedFile, keys: RetainedKeyStore, reports: DamageReports) {
    self.file = file
    self.keys = keys
    self.reports = reports
    // If it cannot be read now, the first call reads it again.
    history = try? Self.storedHistory(in: file, reports)
  }

  /// Counts `call`, on the disk first, and returns the value to pass to `end` or `refuse`.
  ///
  /// - Throws: `ENError.rateLimited` if a limit is exceeded; `.dataInaccessible` for a call without files
  ///   while matches are lost; `SealedStorageError` if the call could not be counted.
  func begin(_ call: DetectionCall) throws -> Begun {
    let earlier = try loadedHistory()
    guard call.map == nil || !call.keyFiles.isEmpty || !needsFiles(earlier) else {
      throw Self.lostMatches(earlier)
    }
    var next = earlier
    try next.take(call)
    try save(next)
    return Begun(call: call, earlier: earlier, removals: removals)
  }

  /// Refunds a call whose files were rejected.
  func refuse(_ begun: Begun) throws {
    var next = try loadedHistory()
    next.refund(to: begun.earlier, at: begun.call.time)
    try save(next)
  }

  /// The keys of earlier detections; empty if their file is missing or damaged. A damaged file is set aside.
  func retainedKeys(keeping period: RetentionPeriod, at now: Date) throws -> [RetainedKey] {
    do throws(SealedStorageError) {
      if let stored = try keys.read(keeping: period, at: now) { return stored }
      if try loadedHistory().analysed.hasMatches {
        // The history is written last: if the process is killed before, the next call repeats both steps.
        try reports.record(.matches)
        try changeAnalysed { $0.lose() }
      }
      return []
    } catch {
      guard error == .damaged else { throw error }
    }
    // The file is renamed last: if the process is killed before, the next call repeats all steps.
    try changeAnalysed { $0.lose() }
    try reports.record(.matches)
    try keys.file.setAside()
    return []
  }

  /// Replaces the last result with `result` and, unless it is nil, the retained keys with `retained`.
  ///
  /// - Throws: `SealedStorageError` if they could not be stored, and the app passes its files again.
  ///   `ENError.dataInaccessible` if matches are lost and not all files were passed again; the matches of
  ///   this call are stored. `CancellationError` after a removal since `begin`.
  func end(
    _ begun: Begun, with result: DetectionResult, retaining retained: [RetainedKey]?,
    keeping period: RetentionPeriod
  ) throws {
    guard begun.removals == removals else { throw CancellationError() }
    if let retained {
      try keys.replace(with: retained)
      try changeAnalysed {
        $0.hasMatches = !retained.isEmpty
        $0.add(begun.call.keyFiles, at: begun.call.time, keeping: period)
      }
      let history = try loadedHistory()
      guard !needsFiles(history) else {
        last = nil
        throw Self.lostMatches(history)
      }
      if reports.contains(.matches) { try reports.resolve(.matches) }
    }
    last = KeptResult(result)
  }

  /// - Throws: `.badParameter` if `summary` is not the summary of the last detection.
  func result(of summary: ExposureSummary) throws(ENError) -> DetectionResult {
    guard let last, last.found == summary else {
      throw ENError(.badParameter, explanation: Self.otherSummary)
    }
    return last.result
  }

  private static let otherSummary =
    "The summary is not that of the last detection; detect again and pass the new summary."
}

extension DetectionStore {
  /// Removes the result and the retained keys. The quotas stay: removing data must not lift a limit.
  func removeAll() throws(SealedStorageError) {
    removals += 1
    last = nil
    // The list is cleared first: if the process is killed before the next step, missing matches are not a loss.
    try changeAnalysed { $0 = AnalysedFiles() }
    try keys.removeAll()
  }

  /// Removes the last result and the retained keys that are in no other files than `withdrawn`, which need
  /// not be passed again.
  func withdraw(
    _ withdrawn: Set<Data>, keeping period: RetentionPeriod, at now: Date
  ) throws {
    let retained = try retainedKeys(keeping: period, at: now)
    let kept = retained.withdrawing(withdrawn)
    removals += 1
    last = nil
    if kept != retained { try keys.replace(with: kept) }
    try changeAnalysed {
      $0.hasMatches = !kept.isEmpty
      $0.forget(withdrawn)
    }
  }

  /// Lets detections succeed again without the files that have not been passed.
  func confirmAllPassed() throws(SealedStorageError) {
    try changeAnalysed { $0.confirm() }
    try reports.resolve(.matches)
  }

  /// True while matches are lost. If the list of files is lost as well, only `confirmAllPassed()` ends this.
  private func needsFiles(_ history: DetectionHistory) -> Bool {
    !history.analysed.lost.isEmpty
      || (reports.contains(.matches) && reports.contains(.detectionLimits))
  }

  private static func lostMatches(_ history: DetectionHistory) -> ENError {
    ENError(
      .dataInaccessible,
      explanation: """
        The matches of earlier key files are lost; pass all files of the last 14 days in one call \
        (\(history.analysed.lost.count) known files are missing).
        """)
  }

  private func changeAnalysed(
    _ change: (inout AnalysedFiles) -> Void
  ) throws(SealedStorageError) {
    var next = try loadedHistory()
    change(&next.analysed)
    guard next != history else { return }
    try save(next)
  }

  private func save(_ next: DetectionHistory) throws(SealedStorageError) {
    guard let content = JSONEncoder().encodeIfPossible(StoredHistory(next)) else { throw .damaged }
    try file.replace(with: content)
    history = next
  }

  private func loadedHistory() throws(SealedStorageError) -> DetectionHistory {
    if let history { return history }
    let stored = try Self.storedHistory(in: file, reports)
    history = stored
    return stored
  }

  /// The stored history; an empty one if the file is damaged.
  private static func storedHistory(
    in file: SealedFile, _ reports: DamageReports
  ) throws(SealedStorageError) -> DetectionHistory {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return DetectionHistory() }
      guard let stored = JSONDecoder().decodeIfValid(StoredHistory.self, from: content) else {
        throw .damaged
      }
      return stored.history
    } catch {
      guard error == .damaged else { throw error }
      reports.setAside(file, .detectionLimits)
      return DetectionHistory()
    }
  }
}

/// The result of a detection as it is kept for later calls, with its windows in little memory.
private struct KeptResult: Sendable {
  let found: ExposureSummary
  private let incidents: [ScoredIncident]
  private let windows: PackedWindows

  init(_ result: DetectionResult) {
    found = result.found
    incidents = result.incidents
    windows = PackedWindows(result.exposureWindows)
  }

  var result: DetectionResult {
    DetectionResult(found: found, incidents: incidents, exposureWindows: windows.unpacked)
  }
}
