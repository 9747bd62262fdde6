import Foundation

/// Puts a file in place whole: written beside it, on the disk, then renamed.
enum WholeFile {
  /// Replaces `url` with `data`, or leaves it as it was.
  static func replace(_ data: Data, at url: URL) throws {
    try fill(url) { try data.write(to: $0) }
  }

  /// Lets `write` make a file beside `url` and gives it that name once it is complete.
  static func fill(_ url: URL, _ write: (URL) throws -> Void) throws {
    let unfinished = url.appendingPathExtension(suffix)
    do {
      try write(unfinished)
      try put(unfinished, at: url)
    } catch {
      try? FileManager.default.removeItem(at: unfinished)
      throw error
    }
  }

  /// Whether `name` was left by a write that did not end: ours, or the key file writer's.
  static func isUnfinished(_ name: String) -> Bool {
    name.hasSuffix("." + suffix) || name.hasPrefix(".export-")
      || (name.hasPrefix(".") && name.contains(".zip"))
  }

  private static let suffix = "unfinished"

  /// Syncs `file`, renames it to `url` and syncs the folder, so that it survives a loss of power.
  private static func put(_ file: URL, at url: URL) throws {
    try sync(file)
    guard rename(file.path, url.path) == 0 else { throw failure }
    try sync(url.deletingLastPathComponent())
  }

  /// Puts what is in the file, or which names are in the folder, on the disk.
  static func sync(_ url: URL) throws {
    let descriptor = open(url.path, O_RDONLY)
    guard descriptor >= 0 else { throw failure }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure }
  }

  private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
