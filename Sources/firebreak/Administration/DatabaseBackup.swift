import Foundation
import GRDB

/// A copy of a database that may be in use, whole or not at all.
struct DatabaseBackup {
  let database: URL

  /// Copies the database to `url`, a new file for its owner only.
  ///
  /// - Throws: `CommandFailure` where there is no database, or already a file, or no room.
  func write(to url: URL) throws {
    guard FileManager.default.fileExists(atPath: database.path) else {
      throw CommandFailure.badInput(
        "There is no database \(database.path): name the servers' folder with --data.")
    }
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure.badInput("\(url.path) is there already: name a new file.")
    }
    let unfinished = url.appendingPathExtension("unfinished")
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(unfinished.path + suffix) } }
    do {
      try copy(to: unfinished)
      try put(unfinished, at: url)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        sentence:
          "The backup \(url.path) could not be written: check the disk and the folder's rights.")
    }
  }

  /// SQLite's online backup: what is committed while it runs is in the copy, or not, as a whole.
  private func copy(to url: URL) throws {
    unlink(url.path)
    let file = open(url.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    close(file)
    var reading = Configuration()
    reading.readonly = true
    let source = try DatabasePool(path: database.path, configuration: reading)
    let copy = try DatabaseQueue(path: url.path)
    try source.backup(to: copy)
    let verdict = try copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
    try copy.close()
    guard verdict == "ok" else {
      throw CommandFailure(
        status: .machineFailed,
        sentence: "The copy is damaged: check \(database.path) and its disk.")
    }
  }

  private func put(_ file: URL, at url: URL) throws {
    try sync(file)
    // Unlike a rename a link takes no place that is taken meanwhile.
    guard link(file.path, url.path) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    try sync(url.deletingLastPathComponent())
  }

  private func sync(_ url: URL) throws {
    let descriptor = open(url.path, O_RDONLY)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }
}
