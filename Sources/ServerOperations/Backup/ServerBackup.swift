// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Settings
import Terminal
import TextEncodings
import World

/// A backup of all servers of one folder, as of one moment.
package struct ServerBackup {
  /// The size of the file.
  package let bytes: Int
  package let servers: [ServerName]
  /// The paths of the files that the settings name outside the folder of the servers.
  package let notIncluded: [String]
}

extension ServerBackup {
  /// Runs `work` with the locks of the secrets of `servers`. They exclude key changes, which write two files: a backup
  /// must not have only one of them.
  fileprivate static func withLocks(
    of servers: ArraySlice<StoredServer>, _ work: () throws -> Void
  ) throws {
    guard let server = servers.first else { return try CommandFailure.ofBackup(work) }
    try server.secrets.withLock { try withLocks(of: servers.dropFirst(), work) }
  }

  /// The file with its path relative to the folder, or its whole path if it is outside.
  fileprivate static func file(_ file: URL, in folder: ServerFolder) -> BackupFile {
    let path = file.standardizedFileURL.path
    let root = folder.url.standardizedFileURL.path + "/"
    return BackupFile(
      name: path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path, url: file)
  }

  /// Those of `files` that are in the folder, each once: settings may name a file that others name too.
  fileprivate static func inside(_ files: [URL], _ folder: ServerFolder) -> [BackupFile] {
    var names: Set<String> = []
    return files.map { file($0, in: folder) }
      .filter { !$0.name.hasPrefix("/") && names.insert($0.name).inserted }
  }
}

extension StoredServer {
  /// True if the server was started, or has keys.
  fileprivate var isStarted: Bool {
    usesPostgreSQL
      || [secrets.url, database].contains { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// Throws if there are secrets and no database, which may be lost.
  fileprivate func requireDatabase() throws {
    guard !usesPostgreSQL, !FileManager.default.fileExists(atPath: database.path) else { return }
    throw CommandFailure.badInput(
      "The \(name.title) has secrets but no database \(database.path.printable): restore a backup, or start it"
        + " once if it is new.")
  }
}

extension ServerSetup {
  /// Writes everything of the servers into the new file `url`, also while they run. Rows in PostgreSQL get into it as
  /// files, so that they can be restored to either.
  ///
  /// - Throws: `CommandFailure`
  package func backUp(to url: URL) async throws -> ServerBackup {
    let stored = folder.servers.filter(\.isStarted)
    for server in stored { try server.requireDatabase() }
    var copied: [BackupServer] = []
    defer { for server in copied { server.cluster?.database.close() } }
    for server in stored { copied.append(try await backupServer(server)) }
    let named = try stored.flatMap { try filesOfSettings(of: $0.name) }
    let own = folder.realm == nil ? [] : [folder.realmFile]
    let files = ServerBackup.inside(own + stored.flatMap(\.files) + named, folder)
    try ServerBackup.withLocks(of: stored[...]) {
      try BackupWriter.write(copied, of: folder.url, files: files, to: url, at: clock.now)
    }
    let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    return ServerBackup(
      bytes: size?.intValue ?? 0, servers: stored.map(\.name),
      notIncluded: named.filter { ServerBackup.inside([$0], folder).isEmpty }.map(\.path))
  }

  /// The database of `server` for a backup. One in PostgreSQL was reached, and belongs to the secrets.
  private func backupServer(_ server: StoredServer) async throws -> BackupServer {
    let file = ServerBackup.file(server.database, in: folder)
    guard let address = try databaseAddress(of: server.name) else {
      return BackupServer(name: server.name.rawValue, database: file, schema: server.schema)
    }
    guard let secret = try server.databaseSecret() else {
      throw CommandFailure.badInput(
        "\(server.secrets.url.path.printable) is missing: copy it from another process, or restore a backup."
      )
    }
    let database = server.postgreSQLDatabase(at: address, secret: secret)
    do { try await database.makeReady() } catch let error as ServerDatabaseError {
      throw error == .otherSecret
        ? otherSecrets(server.secrets.url, of: server.name)
        : CommandFailure(error, of: server.schema)
    }
    let withdrawn = server.name == .keys ? try withdrawnFiles() : []
    return BackupServer(
      name: server.name.rawValue, database: file, schema: server.schema,
      cluster: .init(database, copy: server.moveToFile(withdrawn: withdrawn)))
  }

  /// The files that the settings of a server name.
  fileprivate func filesOfSettings(of server: ServerName) throws -> [URL] {
    let context = SettingContext(folder: folder.folder(of: server), readsFiles: false)
    return try settingsInForce(of: server).namedFiles.map(context.file)
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
