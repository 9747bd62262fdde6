// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import TextEncodings
import World

/// `backup FILE`: copies everything that a server needs into one file, also while the server runs.
struct BackupCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "backup",
      abstract: "Copy the server's database and files to a new file while the server runs.",
      discussion: """
        The file has the database, the secrets, and the settings with the files that they name in the server's \
        folder. Texts that wait in a file or folder for an SMS gateway are not included. For the key server it also \
        has the device configuration and, if it is in the folder, the root key. Protect the file like the \
        secrets. `restore` creates a server from it.
        """)
  }

  private struct Report: Encodable {
    let file: String
    let bytes: Int
    /// The files that the settings name outside the server's folder.
    let notIncluded: [String]
  }

  @Argument(help: "The new file; it must not exist.")
  var file: String

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let url = URL(fileURLWithPath: file)
    let folder = try ServerFolder(existing: options.data, of: Server.name)
    let setup = ServerSetup(folder: folder, options: options)
    let named = try Server.settingsInForce(of: setup).namedFiles.map {
      SettingContext(folder: folder.folder(of: Server.name), readsFiles: false).file($0)
    }
    let files = Server.backupFiles(of: folder) + named
    // The lock excludes key changes, which write two files: a backup must not have only one of them.
    try Server.secretsFile(of: folder).withLock {
      try reportingBackup {
        try BackupWriter.write(
          server: Server.name.rawValue, database: folder.backupFile(Server.database(of: folder)),
          schema: Server.databaseSchema, files: files.compactMap(folder.backupFileInside), to: url,
          at: SystemClock().now)
      }
    }
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    let outside = named.filter { folder.backupFileInside($0) == nil }.map(\.path)
    for path in outside { note("\(path.printable) is not in the backup: copy it separately.") }
    let report = Report(file: url.path, bytes: size?.intValue ?? 0, notIncluded: outside)
    try json
      ? printJSON(report)
      : StandardOutput.write("Wrote \(report.file), \(report.bytes) bytes.")
  }
}

/// `restore FILE`: restores a server from a backup.
struct RestoreCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "restore",
      abstract: "Restore the server from a backup, whole or not at all.",
      discussion: """
        Every byte of the backup is checked first. The server's own folder in DIR must be empty or missing: move a \
        damaged one away. Uploads, codes and used tokens since the backup are lost.
        """)
  }

  private struct Report: Encodable {
    let server: String
    /// The time of the backup in Unix seconds.
    let createdAt: Int64
    let files: [String]
  }

  @Argument(help: "A file that `backup` wrote.")
  var file: String

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder),
      !isFolder.boolValue
    else {
      throw CommandFailure.badInput(
        isFolder.boolValue
          ? "\(file.printable) is a folder: name a file that `backup` wrote."
          : "There is no file \(file.printable): name a backup.")
    }
    let folder = ServerFolder(at: options.data)
    let created = try folder.create()
    let manifest: BackupManifest
    do {
      manifest = try restored(URL(fileURLWithPath: file), in: folder)
    } catch {
      // A folder that is not empty is not removed.
      for folder in created.reversed() { rmdir(folder.path) }
      throw error
    }
    let own = folder.folder(of: Server.name)
    let report = Report(
      server: manifest.server, createdAt: manifest.createdAt, files: manifest.files.map(\.name))
    try json
      ? printJSON(report)
      : StandardOutput.write(
        "Restored \(own.path) from a backup of \(UTCTime(unixSecond: report.createdAt).text)."
      )
  }

  /// Restores the server into `folder`.
  private func restored(_ backup: URL, in folder: ServerFolder) throws -> BackupManifest {
    let own = folder.folder(of: Server.name)
    guard try FileManager.default.contentsOfDirectory(atPath: own.path).isEmpty else {
      throw CommandFailure.badInput(
        "\(own.path.printable) has data of a server: move it away first.")
    }
    // On the same file system, so that `rename` works.
    let staging = folder.url.appendingPathComponent(".restore-\(UUID().uuidString)")
    defer { FileManager.default.removeUnneeded(staging) }
    return try reportingBackup {
      let manifest = try BackupReader.extract(backup, of: Server.name.rawValue, into: staging)
      // Confirms the current time, or the server would take the time since the backup for a jump of the clock.
      let database = folder.backupFile(Server.database(of: folder)).name
      do throws(ServerDatabaseError) {
        try ServerState.confirm(
          SystemClock().now, in: staging.appendingPathComponent(database),
          schema: Server.databaseSchema)
      } catch {
        throw CommandFailure(error, of: Server.databaseSchema)
      }
      try place(manifest, from: staging, in: folder)
      return manifest
    }
  }

  /// Moves the extracted files to their places; the server's own folder comes last.
  private func place(
    _ manifest: BackupManifest, from staging: URL, in folder: ServerFolder
  ) throws {
    let own = Server.name.rawValue
    for name in manifest.files.map(\.name) where !name.hasPrefix(own + "/") {
      let (source, target) = (
        staging.appendingPathComponent(name), folder.url.appendingPathComponent(name)
      )
      let data = try Data(contentsOf: source)
      if let present = FileManager.default.contents(atPath: target.path) {
        // The token keys may be newer than the backup. Another root key means that the folder serves other phones.
        guard present == data || target == folder.tokenPublicKeys.url else {
          throw CommandFailure.badInput(
            "\(target.path.printable) differs from that of the backup: move it away first.")
        }
      } else {
        try AtomicFile.write(data, to: target, permissions: 0o644)
      }
    }
    let (source, target) = (staging.appendingPathComponent(own), folder.folder(of: Server.name))
    guard rename(source.path, target.path) == 0 else { throw FileError(.rename, target) }
    try AtomicFile.sync(folder.url)
  }
}

extension JSONValue {
  /// The values of the settings whose names end in `File`, at any depth.
  fileprivate var namedFiles: [String] {
    switch self {
    case .object(let fields):
      fields.sorted { $0.key < $1.key }.flatMap { name, value in
        name.hasSuffix("File") ? [value.string].compactMap { $0 } : value.namedFiles
      }
    case .array(let list): list.flatMap(\.namedFiles)
    default: []
    }
  }
}

extension ServerFolder {
  /// The file with its path relative to the folder.
  fileprivate func backupFile(_ file: URL) -> BackupFile {
    let path = file.standardizedFileURL.path
    let root = url.standardizedFileURL.path + "/"
    return BackupFile(
      name: path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path, url: file)
  }

  /// The file with its path relative to the folder; nil if the file is outside the folder.
  fileprivate func backupFileInside(_ file: URL) -> BackupFile? {
    let found = backupFile(file)
    return found.name.hasPrefix("/") ? nil : found
  }
}

/// Runs `work` and turns its errors into a `CommandFailure`.
private func reportingBackup<Result>(_ work: () throws -> Result) throws -> Result {
  do {
    return try work()
  } catch let error as BackupError {
    throw CommandFailure(
      status: error.isOfMachine ? .machineFailed : .badInput,
      message: error.description.printable)
  } catch let error as FileError {
    throw CommandFailure(
      status: .machineFailed,
      message: "\(error.description.printable): check the disk and its permissions, then retry.")
  }
}
