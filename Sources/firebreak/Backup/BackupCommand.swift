// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import TextEncodings
import World

/// `firebreak backup FILE`: copies everything of the servers of one folder into one file, also while they run.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy all data of the servers to one new file, as of one moment, while they run.",
    discussion: """
      The file has, for each server in DIR, the database, the secrets, and the settings with the files that they name \
      in the server's folder; for the key server also the device configuration and, if it is in the folder, the root \
      key. Texts that wait in a file or folder for an SMS gateway are not included. Protect the file like the \
      secrets. `verify-backup` checks it, `restore` creates the servers from it.
      """)

  private struct Report: Encodable {
    let file: String
    let bytes: Int
    let servers: [String]
    /// The files that the settings name outside the servers' folders.
    let notIncluded: [String]
  }

  @Argument(help: "The new file; it must not exist.")
  var file: String

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let url = URL(fileURLWithPath: file)
    let folder = try ServerFolder(existing: options.data)
    let servers = folder.servers.filter(\.exists)
    for server in servers { try server.requireDatabase() }
    let named = try servers.flatMap { try $0.filesOfSettings(options) }
    try withLocks(of: servers[...]) {
      try BackupWriter.write(
        servers.map(folder.backupServer), of: folder.url,
        files: folder.backupFiles(servers.flatMap(\.files) + named), to: url,
        at: SystemClock().now)
    }
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    let outside = named.filter { folder.backupFileInside($0) == nil }.map(\.path)
    for path in outside { note("\(path.printable) is not in the backup: copy it separately.") }
    let report = Report(
      file: url.path, bytes: size?.intValue ?? 0, servers: servers.map(\.name.rawValue),
      notIncluded: outside)
    try json
      ? printJSON(report)
      : StandardOutput.write(
        "Wrote \(report.file.printable), \(report.bytes) bytes: \(servers.map(\.name).titles).")
  }

  /// Runs `work` with the locks of the secrets of `servers`. They exclude key changes, which write two files: a backup
  /// must not have only one of them.
  private func withLocks(of servers: ArraySlice<StoredServer>, _ work: () throws -> Void) throws {
    guard let server = servers.first else { return try BackupFailure.reporting(work) }
    try server.secrets.withLock { try withLocks(of: servers.dropFirst(), work) }
  }
}

extension StoredServer {
  /// True if the server was started, or has keys.
  fileprivate var exists: Bool {
    [secrets.url, database].contains { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// Throws if there are secrets and no database, which may be lost.
  fileprivate func requireDatabase() throws {
    guard !FileManager.default.fileExists(atPath: database.path) else { return }
    throw CommandFailure.badInput(
      "The \(name.title) has secrets but no database \(database.path.printable): restore a backup, or start it"
        + " once if it is new.")
  }

  /// The files that the settings name.
  fileprivate func filesOfSettings(_ options: ServerOptions) throws -> [URL] {
    let context = SettingContext(folder: folder.folder(of: name), readsFiles: false)
    return try settingsInForce(options).namedFiles.map(context.file)
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
  /// The database of `server` with its path relative to the folder.
  func backupServer(_ server: StoredServer) -> BackupServer {
    BackupServer(
      name: server.name.rawValue, database: backupFile(server.database), schema: server.schema)
  }

  /// The file with its path relative to the folder.
  private func backupFile(_ file: URL) -> BackupFile {
    let path = file.standardizedFileURL.path
    let root = url.standardizedFileURL.path + "/"
    return BackupFile(
      name: path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path, url: file)
  }

  /// Those of `files` that are in the folder, each once: settings may name a file that others name too.
  fileprivate func backupFiles(_ files: [URL]) -> [BackupFile] {
    var names: Set<String> = []
    return files.compactMap(backupFileInside).filter { names.insert($0.name).inserted }
  }

  /// The file with its path relative to the folder; nil if the file is outside the folder.
  fileprivate func backupFileInside(_ file: URL) -> BackupFile? {
    let found = backupFile(file)
    return found.name.hasPrefix("/") ? nil : found
  }
}

extension [ServerName] {
  /// The servers as a sentence lists them.
  var titles: String { map(\.title).joined(separator: ", ") }
}
