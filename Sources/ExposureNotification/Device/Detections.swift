import ExposureKeys
import Foundation
import Logging
import SealedStorage

/// Limits detections, and holds what the last one found for the app to look into.
///
/// What limits them is sealed on the disk, so that a restart lifts no limit; so are the keys that are
/// scored again. The result is never written. Documentation/Framework.md 6.
actor Detections {
  private let file: SealedFile
  private let keys: KeptKeys
  private let logger: Logger
  private var history: DetectionHistory
  private var last: DetectionResult?
  /// How often everything was removed: a detection that began before must not bring it back.
  private var removals = 0

  init(file: SealedFile, keys: KeptKeys, logger: Logger) {
    self.file = file
    self.keys = keys
    self.logger = logger
    history = Self.remembered(in: file, logger: logger)
  }

  /// Counts `call`; the answer belongs to `end`.
  ///
  /// - Throws: `.rateLimited` where it is too much.
  func begin(_ call: DetectionCall) throws(ENError) -> Int {
    try history.take(call)
    save()
    return removals
  }

  /// The keys of earlier detections that are scored again.
  func keptKeys(at now: Date) throws(SealedStorageError) -> [KeptKey] {
    try keys.read(at: now)
  }

  /// Keeps the result in place of the last one, and `kept`, where there are some to keep, in place of
  /// the keys kept before.
  ///
  /// - Throws: `SealedStorageError` where the keys find no room: then nothing has changed, and the app
  ///   passes its files again. `CancellationError` where everything was removed since `begin`.
  func end(_ begun: Int, with result: DetectionResult, keeping kept: [KeptKey]?) throws {
    guard begun == removals else { throw CancellationError() }
    if let kept { try keys.replace(with: kept) }
    last = result
  }

  /// The result that `summary` sums up.
  ///
  /// - Throws: `.badParameter` where it is not the summary of the last detection.
  func result(of summary: ExposureSummary) throws(ENError) -> DetectionResult {
    guard let last, last.found == summary else {
      throw ENError(.badParameter, explanation: Self.onlyTheLast)
    }
    return last
  }

  /// Forgets the result and the kept keys. The limits stay: removing data must not lift them.
  func removeAll() throws(SealedStorageError) {
    removals += 1
    last = nil
    try keys.removeAll()
  }

  private static let onlyTheLast =
    "The summary is not that of the last detection; detect again and pass the new summary."

  private func save() {
    do throws(SealedStorageError) {
      guard let content = try? JSONEncoder().encode(StoredHistory(history)) else { return }
      try file.replace(with: content)
    } catch {
      logger.warning("the count of detections is not on the disk: \(error)")
    }
  }

  private static func remembered(in file: SealedFile, logger: Logger) -> DetectionHistory {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return DetectionHistory() }
      let stored = try? JSONDecoder().decode(StoredHistory.self, from: content)
      return stored?.history ?? DetectionHistory()
    } catch {
      logger.warning("the count of detections cannot be read and begins anew: \(error)")
      if error == .damaged { _ = try? file.setAside() }
      return DetectionHistory()
    }
  }
}
