import ArgumentParser
import Foundation
import GRDB
import World

/// `backup FILE`: copies the server's database, also while the server runs.
struct BackupCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "backup",
      abstract: "Copy the database to a new file, whole or not at all, while the server runs.",
      discussion: """
        The key server's device configuration is copied to FILE.device-configuration.json. The secrets are not \
        included: they are in secrets.json, next to the database.
        """)
  }

  private struct Report: Encodable {
    let file: String
    let bytes: Int
  }

  @Argument(help: "The new file; it must not exist.")
  var file: String

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let url = URL(fileURLWithPath: file)
    let folder = try ServerFolder(existing: options.data, of: Server.name)
    try DatabaseBackup(database: Server.database(of: folder)).write(to: url)
    if let document = Server.document(of: folder) { try copy(document, beside: url) }
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    let report = Report(file: url.path, bytes: size?.intValue ?? 0)
    try json
      ? printJSON(report)
      : StandardOutput.write("Wrote \(report.file), \(report.bytes) bytes.")
  }
}

extension BackupCommand {
  private func copy(_ document: URL, beside url: URL) throws {
    let copy = url.appendingPathExtension(document.lastPathComponent)
    do {
      try AtomicFile.write(
        try Data(contentsOf: document), to: copy, permissions: 0o600, existing: .keep)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        sentence:
          "\(document.path.printable) could not be copied to \(copy.path.printable): check both.")
    }
  }
}

/// A copy of a database that may be in use.
struct DatabaseBackup {
  let database: URL

  /// Copies the database to the new file `url` with mode 0600.
  ///
  /// - Throws: `CommandFailure` if there is no database, if the file exists, or if the disk is full.
  func write(to url: URL) throws {
    guard FileManager.default.fileExists(atPath: database.path) else {
      throw CommandFailure.badInput(
        "There is no database \(database.path): name the servers' folder with --data.")
    }
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw exists(url)
    }
    let unfinished = url.appendingPathExtension("unfinished")
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(unfinished.path + suffix) } }
    do {
      try copy(to: unfinished)
      // Unlike a rename, `.keep` does not replace a file that was created meanwhile.
      try AtomicFile.publish(unfinished, as: url, existing: .keep)
    } catch let failure as CommandFailure {
      throw failure
    } catch let error as FileError where error.code == EEXIST {
      throw exists(url)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        sentence:
          "The backup \(url.path) could not be written: check the disk and the folder's permissions."
      )
    }
  }

  /// SQLite's online backup: each transaction is in the copy completely or not at all.
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

  private func exists(_ url: URL) -> CommandFailure {
    .badInput("\(url.path) exists: name a new file.")
  }
}
