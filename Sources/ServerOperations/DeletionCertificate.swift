// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Settings
import Terminal
import World

/// A statement of what was deleted, to be signed by the authority.
package struct DeletionCertificate: Encodable, Hashable, Sendable {
  /// A deleted file.
  package struct File: Codable, Hashable, Sendable {
    package let path: String
    package let bytes: Int
  }

  /// Unix seconds of the begin of the first run.
  package let begunAt: Int64
  /// Unix seconds of the end of the last run.
  package let deletedAt: Int64
  /// The names of the servers, those of realms such as `north/console`.
  package let servers: [String]
  /// The version of the instruction to stop.
  package let deviceConfigurationVersion: Int?
  /// The deleted files of all runs, by their paths from the folder of the servers.
  package let deleted: [File]
  /// The files that are left for phones.
  package let kept: [String]
  /// Places with data of the service that this command does not delete: the object store of the key files, and the
  /// folders that restorations have moved away. Files outside the folder that settings name are not among them.
  package let notDeleted: [String]
}

/// The end of a service for good: phones are told, then all data is deleted.
extension ServerSetup {
  /// Tells all phones to neither check nor upload any more. Running servers serve the instruction at once.
  ///
  /// - Parameters:
  ///   - rootKey: The file of the root key; nil for that of the folder.
  ///   - lifetimeSeconds: The validity of the instruction; nil for the longest, because none can be signed after it.
  /// - Returns: The signed document.
  /// - Throws: `CommandFailure` if the root key is missing or the document cannot be written.
  package func tellEndOfService(
    rootKey: String?, lifetimeSeconds: Int64?
  ) async throws -> DeviceConfiguration {
    try await publish(
      .pause(until: nil), rootKey: rootKey,
      lifetimeSeconds: lifetimeSeconds ?? DeviceConfigurationLimit.lifetimes.upperBound)
  }

  /// Deletes databases, secrets, settings and key files of all servers of the folder and of its realms. What phones ask
  /// for is left in the folder of the exports, for a web server: the instruction to stop, and empty indexes.
  ///
  /// - Returns: The certificate of this run and of interrupted ones before it.
  /// - Throws: `CommandFailure` if phones were not told, a server runs, a database in PostgreSQL is not the one of its
  ///   server, or a file cannot be deleted; then the command can be repeated.
  package func deleteService() async throws -> DeletionCertificate {
    // Before the locks, because servers run to tell phones.
    _ = try versionOfInstruction(deletionRecord())
    let ending = try EndingServers(of: folder)
    defer { withExtendedLifetime(ending) {} }
    let servers = ending.servers
    var record = try deletionRecord()
    let version = try versionOfInstruction(record)
    // Before the settings are deleted.
    let store = try keySettings().files
    // Before the record, with which no server starts any more.
    var databases: [DatabaseToDelete] = []
    defer { for database in databases { database.close() } }
    for own in [self] + ending.realms.map(setup(of:)) {
      databases += try await own.databasesToDelete(record)
    }
    do {
      try record.begin(at: clock.now, servers: servers.map(\.recordedName), version: version)
      if let store { try record.leaves(store) }
      // Before the files, which say where the databases are.
      for database in databases { try await database.delete(&record) }
      try keepInstruction(&record)
      try deleteExports(&record)
      // The secrets first: without them a copy of the database is worth less.
      for server in servers where exists(server.secrets.url) {
        try delete(server.secrets.url, &record)
      }
      if exists(folder.tokenPublicKeys.url) { try delete(folder.tokenPublicKeys.url, &record) }
      try deleteRealms(&record)
      // The key server last: until then a new run sees that phones were told.
      for name in [ServerName.verification, .console, .keys] {
        try deleteFolder(of: name, &record)
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure.machineFailed(
        "A file of \(folder.url.path.printable) cannot be deleted: check its permissions and the disk, and"
          + " run the command again. The certificate will have what is deleted already.")
    }
    return record.certificate(at: clock.now, besides: folder.replaced.map(\.path))
  }

  private func deletionRecord() throws -> DeletionRecord {
    do { return try DeletionRecord(in: folder.deletionRecord) } catch {
      throw CommandFailure.machineFailed(
        "\(folder.deletionRecord.path.printable) cannot be read: check its permissions.")
    }
  }

  /// - Throws: `CommandFailure` unless phones were told to stop for good.
  private func versionOfInstruction(_ record: DeletionRecord) throws -> Int {
    // An interrupted run may have deleted the instruction, after it has checked it.
    if let begin = record.lastBegin, !exists(folder.deviceConfiguration) { return begin.version }
    let document = try deviceConfiguration.existing()
    guard let pause = document.pause, pause.until == nil else {
      throw CommandFailure.badInput(
        "Phones were not told yet: run `firebreak end-of-service tell` while the servers run, and wait"
          + " until phones have asked.")
    }
    return document.version
  }

  /// Copies the instruction to stop to the folder of the exports.
  private func keepInstruction(_ record: inout DeletionRecord) throws {
    guard exists(folder.deviceConfiguration) else { return }
    try FileManager.default.createDirectory(
      at: folder.exports, withIntermediateDirectories: true)
    let file = folder.exports.appendingPathComponent("device-configuration.json")
    try AtomicFile.write(
      try Data(contentsOf: folder.deviceConfiguration), to: file, permissions: 0o644)
    try record.keeps(path(of: file))
  }

  /// Removes the key files, also those that an interruption has left incomplete, and empties the indexes.
  private func deleteExports(_ record: inout DeletionRecord) throws {
    guard exists(folder.exports) else { return }
    // A link to the folder that several processes share has no paths itself.
    let place = folder.exports.resolvingSymlinksInPath().path
    for name in try FileManager.default.subpathsOfDirectory(atPath: place).sorted() {
      let file = folder.exports.appendingPathComponent(name)
      if name.hasSuffix(".zip") || TemporaryExportFile.isName(file.lastPathComponent) {
        try delete(file, &record)
      } else if file.lastPathComponent == "index.txt" {
        try AtomicFile.write([UInt8](), to: file, permissions: 0o644)
        try record.keeps(path(of: file))
      }
    }
  }

  /// Deletes the files of the realms, and what additions and removals have left.
  private func deleteRealms(_ record: inout DeletionRecord) throws {
    guard exists(folder.realmsFolder) else { return }
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.realmsFolder.path)
      .sorted().map { folder.realmsFolder.appendingPathComponent($0) }
      .filter { !FileManager.default.isFolder(at: $0.path) }
    // By these a second run finds the realms.
    let last = folder.realmFile.lastPathComponent
    for file in files where file.lastPathComponent != last { try delete(file, &record) }
    for file in files where file.lastPathComponent == last { try delete(file, &record) }
    try FileManager.default.removeItem(at: folder.realmsFolder)
  }

  private func deleteFolder(of server: ServerName, _ record: inout DeletionRecord) throws {
    let own = folder.folder(of: server)
    guard exists(own) else { return }
    // A second run finds the server by its database.
    let last = [folder.server(server).database, folder.deviceConfiguration].map(\.path)
    let files = try FileManager.default.subpathsOfDirectory(atPath: own.path).sorted()
      .map { own.appendingPathComponent($0) }
      .filter { !FileManager.default.isFolder(at: $0.path) && !last.contains($0.path) }
    for file in files { try delete(file, &record) }
    for path in last
    where path.hasPrefix(own.path + "/") && FileManager.default.fileExists(atPath: path) {
      try delete(URL(fileURLWithPath: path), &record)
    }
    try FileManager.default.removeItem(at: own)
  }

  private func delete(_ file: URL, _ record: inout DeletionRecord) throws {
    let size = FileManager.default.attributes(of: file)?[.size] as? NSNumber
    try record.willDelete(.init(path: path(of: file), bytes: size?.intValue ?? 0))
    try FileManager.default.removeItem(at: file)
  }

  private func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

  /// The path from the folder of the servers.
  private func path(of file: URL) -> String {
    String(file.path.dropFirst(folder.url.path.count)).trimmingPrefix("/").description
  }
}
