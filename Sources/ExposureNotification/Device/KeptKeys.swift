import ExposureKeys
import Foundation
import Logging
import SealedStorage

/// The keys of earlier detections that are worth scoring again, sealed on the disk.
///
/// API version 2 only. Documentation/Framework.md 6.5.
struct KeptKeys: Sendable {
  private let file: SealedFile
  private let logger: Logger

  init(file: SealedFile, logger: Logger) {
    self.file = file
    self.logger = logger
  }

  /// Those provided within the retention period before `now`, oldest first; a file that does not
  /// open is set aside.
  func read(at now: Date) throws(SealedStorageError) -> [KeptKey] {
    let content: Data?
    do throws(SealedStorageError) {
      content = try file.read()
    } catch {
      guard error == .damaged else { throw error }
      logger.error("the matches of earlier detections are damaged, set aside and begin anew")
      _ = try? file.setAside()
      return []
    }
    let stored = content.flatMap { try? JSONDecoder().decode([StoredKeptKey].self, from: $0) }
    return (stored ?? []).compactMap(\.key).filter { $0.isKept(at: now) }
  }

  /// Keeps `keys` in place of the last ones, the first where they are too many.
  func replace(with keys: [KeptKey]) throws(SealedStorageError) {
    // Most phones have nothing to keep, and need no file to say so.
    if keys.isEmpty, (try? file.read()) == nil { return }
    let stored = keys.prefix(DeviceLimit.keptKeys).map(StoredKeptKey.init)
    guard let content = try? JSONEncoder().encode(stored) else { throw .damaged }
    try file.replace(with: content)
  }

  func removeAll() throws(SealedStorageError) {
    try file.remove()
  }
}
