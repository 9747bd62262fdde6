import Foundation
import Logging
import SealedStorage

/// Counts detections, and holds the result of the last one for the app to look into.
///
/// The count is sealed on the disk, so that a restart does not lift the limit; the result is never
/// written. Documentation/Framework.md 6.
actor Detections {
  private let file: SealedFile
  private let logger: Logger
  private var quota: DetectionQuota
  private var last: DetectionResult?

  init(file: SealedFile, logger: Logger) {
    self.file = file
    self.logger = logger
    quota = Self.remembered(in: file, logger: logger)
  }

  /// Counts a detection at `now`.
  ///
  /// - Throws: `.rateLimited` where `limit` of the last 24 hours are used up.
  func begin(at now: Date, limit: Int) throws(ENError) {
    guard quota.take(at: now, limit: limit) else { throw ENError(.rateLimited) }
    save()
  }

  /// Keeps the result in place of the last one.
  func end(with result: DetectionResult) {
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

  /// Forgets the result. The count stays: removing data must not lift the limit.
  func removeAll() {
    last = nil
  }

  private static let onlyTheLast =
    "The summary is not that of the last detection; detect again and pass the new summary."

  private func save() {
    do throws(SealedStorageError) {
      guard let content = try? JSONEncoder().encode(quota) else { return }
      try file.replace(with: content)
    } catch {
      logger.warning("the count of detections is not on the disk: \(error)")
    }
  }

  private static func remembered(in file: SealedFile, logger: Logger) -> DetectionQuota {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return DetectionQuota() }
      return (try? JSONDecoder().decode(DetectionQuota.self, from: content)) ?? DetectionQuota()
    } catch {
      logger.warning("the count of detections cannot be read and begins anew: \(error)")
      if error == .damaged { _ = try? file.setAside() }
      return DetectionQuota()
    }
  }
}
