// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import PostgreSQL
import ServerStorage
import Settings
import Terminal
import VerificationServer
import World

/// The databases of the servers: SQLite files in the folder, or those of a PostgreSQL cluster.
extension ServerSetup {
  /// The database of `server` in PostgreSQL, such as `firebreak_keys`, each with a role of the same name unless the
  /// address has one; nil for the file.
  ///
  /// - Throws: `CommandFailure` if the server keeps its data in the other kind of database, or in both.
  @discardableResult
  package func databaseAddress(of server: ServerName) throws -> PostgreSQLAddress? {
    let stored = folder.server(server)
    guard let database else {
      guard !stored.usesPostgreSQL else {
        throw CommandFailure.badInput(
          "The \(server.title) of \(folder.url.path.printable) keeps its data in PostgreSQL: set DATABASE_URL to"
            + " the address of the cluster.")
      }
      return nil
    }
    guard !FileManager.default.fileExists(atPath: stored.database.path) else {
      if stored.usesPostgreSQL { throw stored.movedFile }
      throw CommandFailure.badInput(
        "\(stored.database.path.printable) has the data of the \(server.title), which is not in PostgreSQL: move"
          + " it with `firebreak database move`, or do without --database and DATABASE_URL.")
    }
    var address = database.database(stored.postgreSQLName)
    address.mayBeEmpty = !stored.usesPostgreSQL
    return address
  }

  /// False if `server` has no database yet. That in PostgreSQL is created by the operator.
  func hasDatabase(of server: ServerName) -> Bool {
    let stored = folder.server(server)
    if database != nil { return true }
    return stored.usesPostgreSQL || FileManager.default.fileExists(atPath: stored.database.path)
  }

  /// Opens the databases in PostgreSQL, so that errors are known before a server listens, and records in the folder
  /// that they are used.
  ///
  /// - Throws: `CommandFailure` if one cannot be reached, is of a newer version, belongs to other secrets, or is empty
  ///   although there are key files.
  package func openDatabases(of servers: [ServerName], logger: Logger) async throws {
    guard database != nil else { return }
    // Before the servers read their files. What fails here fails again below, with the error of the server.
    for server in servers { try? await synchronize(server) }
    try await reportingErrors {
      if servers.contains(.verification) {
        try await verificationServer(host: "127.0.0.1", port: 0, logger: logger).openDatabase()
      }
      if servers.contains(.keys) {
        let server = try keyServer(logger: logger)
        try await server.openDatabase()
        if hasListedFiles, try await !server.hasFiles() { throw lostFiles }
      }
      if servers.contains(.console) { try await openConsoleDatabase() }
    }
    for server in servers { try folder.server(server).recordPostgreSQL() }
  }

  /// Connects to the databases in PostgreSQL and changes nothing in them, so that a first start that cannot reach one
  /// leaves no folder.
  ///
  /// - Throws: `CommandFailure` if one cannot be reached.
  package func requireDatabases(of servers: [ServerName]) async throws {
    for server in servers {
      guard let database = try postgreSQLDatabase(of: server) else { continue }
      defer { database.close() }
      do {
        try await database.connect()
      } catch let error as ServerDatabaseError {
        throw CommandFailure(error, of: folder.server(server).schema)
      }
    }
  }

  /// With a new database, the key server would forget used tokens, and remove the files.
  private var lostFiles: CommandFailure {
    .badInput(
      "The database firebreak_keys is empty, and \(folder.exports.path.printable) has key files: restore the"
        + " database, or move the key files away to start without them.")
  }

  /// True if the first export has files.
  var hasListedFiles: Bool {
    let index = folder.exports.appendingPathComponent("index.txt")
    return FileManager.default.contents(atPath: index.path).map { !$0.isEmpty } ?? false
  }

  /// The database of `server` in PostgreSQL, opened beside the server; nil for the file.
  func postgreSQLDatabase(of server: ServerName) throws -> PostgreSQLServerDatabase? {
    try databaseAddress(of: server).map { folder.server(server).postgreSQLDatabase(at: $0) }
  }
}

extension StoredServer {
  /// The name of the database in PostgreSQL.
  var postgreSQLName: String {
    (["firebreak", name.rawValue] + [folder.realm].compactMap(\.self)).joined(separator: "_")
  }

  /// The record that the data of the server is in PostgreSQL, so that no command looks for it in a file.
  private var record: URL { folder.folder(of: name).appendingPathComponent("postgresql.json") }

  /// True if the server was started with a database in PostgreSQL.
  var usesPostgreSQL: Bool { FileManager.default.fileExists(atPath: record.path) }

  /// The fault of a file that was moved, and then not renamed.
  var movedFile: CommandFailure {
    .badInput(
      "The data of \(database.path.printable) is in PostgreSQL: rename the file to \(movedDatabase.lastPathComponent),"
        + " or run `firebreak database move --to-files` again if that was interrupted."
    )
  }

  /// The file of the database after a move.
  var movedDatabase: URL { database.appendingPathExtension("moved") }

  /// The database of the server at `address`.
  ///
  /// - Parameters:
  ///   - address: The address of the database.
  ///   - secret: The secret that it must belong to; nil for no check.
  func postgreSQLDatabase(
    at address: PostgreSQLAddress, secret: Data? = nil
  ) -> PostgreSQLServerDatabase {
    let logger = Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() }
    return switch name {
    case .verification: VerificationServer.database(at: address, secret: secret, logger: logger)
    case .keys: KeyServer.database(at: address, secret: secret, logger: logger)
    case .console: HealthAuthorityConsole.database(at: address, secret: secret, logger: logger)
    }
  }

  /// The record that a move to files has left the old tables in PostgreSQL.
  var moveToFilesRecord: URL {
    folder.folder(of: name).appendingPathComponent("moved-from-postgresql.json")
  }

  /// True if the data was moved from PostgreSQL to the file.
  var hasMovedToFiles: Bool { FileManager.default.fileExists(atPath: moveToFilesRecord.path) }

  /// Records that the data was moved to the file, so that the end of the service asks for the old tables.
  func recordMoveToFiles() throws {
    try AtomicFile.write(
      Data(#"{"database":"\#(postgreSQLName)"}"#.utf8), to: moveToFilesRecord,
      permissions: 0o600)
  }

  /// Removes the record, because the data is in the file again.
  func removePostgreSQLRecord() throws { try FileManager.default.removeItem(at: record) }

  /// Records that the data of the server is in PostgreSQL.
  func recordPostgreSQL() throws {
    guard !usesPostgreSQL else { return }
    do {
      try AtomicFile.write(
        Data(#"{"database":"\#(postgreSQLName)"}"#.utf8), to: record, permissions: 0o600)
    } catch {
      throw CommandFailure.machineFailed(
        "\(record.path.printable) cannot be written: check the disk and the folder's owner.")
    }
  }
}
