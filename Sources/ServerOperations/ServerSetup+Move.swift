// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import PostgreSQL
import QuietHTTP
import ServerStorage
import Settings
import Terminal
import VerificationServer
import World

/// The moves of the databases: from the folder to PostgreSQL and back, and from one PostgreSQL cluster to another one.
extension ServerSetup {
  /// The tables of a moved database.
  package struct MovedDatabase: Sendable {
    package let server: ServerName
    /// The numbers of copied rows by table.
    package let rows: [String: Int]
    /// The place of the old data: the path of a file, or a schema in PostgreSQL; nil if it is not known.
    package let leftover: String?
  }

  /// Copies the databases of the stopped servers to PostgreSQL, and compares every row. Each is copied in one
  /// transaction. Then its file gets another name, and the server uses only PostgreSQL.
  ///
  /// - Throws: `CommandFailure` if there is no file, a server runs, the database in PostgreSQL has data or cannot be
  ///   reached. Servers that were moved before stay moved.
  package func moveDatabases() async throws -> [MovedDatabase] {
    guard let database else {
      throw missingAddress
    }
    let files = folder.servers.filter {
      FileManager.default.fileExists(atPath: $0.database.path)
    }
    guard !files.isEmpty else {
      throw CommandFailure.badInput(
        "\(folder.url.path.printable) has no databases to move: name the servers' folder with --data."
      )
    }
    for server in files where server.usesPostgreSQL { throw server.movedFile }
    let locks = try ServerLocks(folder, files.map(\.name))
    defer { withExtendedLifetime(locks) {} }
    try await requireEmpty(files, in: database)
    var moved: [MovedDatabase] = []
    for server in files {
      let rows = try await reporting(server) {
        try await server.move.run(from: server.database, to: server.movedDatabase(in: database))
      }
      moved.append(
        MovedDatabase(
          server: server.name, rows: rows, leftover: try server.retireDatabase().path))
    }
    return moved
  }

  private var missingAddress: CommandFailure {
    .badInput("Set DATABASE_URL to the address of the PostgreSQL cluster.")
  }

  /// Checks all databases before the first copy, so that one that is not empty leaves everything as it was.
  private func requireEmpty(
    _ servers: [StoredServer], in cluster: PostgreSQLAddress
  ) async throws {
    for server in servers {
      let target = server.movedDatabase(in: cluster)
      defer { target.close() }
      try await reporting(server) { try await server.move.requireEmpty(target) }
    }
  }

  /// Copies the databases of the stopped servers from PostgreSQL to files in the folder, and compares every row. Each
  /// is copied in one transaction; its tables in PostgreSQL then get into another schema.
  ///
  /// - Throws: `CommandFailure` if a server runs, there is a file already, or the database cannot be reached. Servers
  ///   that were moved before stay moved.
  package func moveDatabasesToFiles() async throws -> [MovedDatabase] {
    guard let database else { throw missingAddress }
    let servers = try serversInPostgreSQL()
    let locks = try ServerLocks(folder, servers.map(\.name))
    defer { withExtendedLifetime(locks) {} }
    var moved: [MovedDatabase] = []
    for server in servers { moved.append(try await moveToFile(server, from: database)) }
    return moved
  }

  private func moveToFile(
    _ server: StoredServer, from cluster: PostgreSQLAddress
  ) async throws -> MovedDatabase {
    let source = try server.source(in: cluster)
    defer { source.close() }
    let move = server.moveToFile(withdrawn: server.name == .keys ? try withdrawnFiles() : [])
    let retired = try await reporting(server) {
      do {
        // A file and the record that it is not used: the command was interrupted, or the file came back.
        guard !server.hasFile else {
          try await source.makeReady()
          throw server.movedFile
        }
        return try await move.run(from: source, toNew: server.newDatabase, at: clock.now)
      } catch ServerDatabaseError.empty {
        // The file of an earlier interruption is not the data of another empty database.
        guard try server.hasMovedFile(), try await source.hasRetiredTables() else {
          throw ServerDatabaseError.empty
        }
        return .earlier
      }
    }
    try server.useNewDatabase()
    return MovedDatabase(server: server.name, rows: retired.rows, leftover: retired.schema)
  }

  /// The files that the device configuration of the folder withdraws.
  func withdrawnFiles() throws -> Set<KeyFileHash> {
    guard FileManager.default.fileExists(atPath: folder.deviceConfiguration.path) else { return [] }
    return Set(try deviceConfiguration.existing().next(keys: [], issued: clock.now).withdrawn)
  }

  /// Copies the databases of the stopped servers to the empty ones of `target`, and compares every row. Each is copied
  /// in one transaction; its tables in the first cluster then get into another schema.
  ///
  /// - Throws: `CommandFailure` if a server runs, a database of `target` has data, or one cannot be reached. Servers
  ///   that were moved before stay moved.
  package func moveDatabases(to target: PostgreSQLAddress) async throws -> [MovedDatabase] {
    guard let database else { throw missingAddress }
    let servers = try serversInPostgreSQL()
    for server in servers where server.hasFile { throw server.movedFile }
    let locks = try ServerLocks(folder, servers.map(\.name))
    defer { withExtendedLifetime(locks) {} }
    var left: [StoredServer] = []
    for server in servers where try await !isMoved(server, from: database, to: target) {
      left.append(server)
    }
    // Before the first copy, so that a target with other data leaves everything as it was.
    for server in left { try await requireEmptyOrEqual(server, from: database, to: target) }
    var moved: [MovedDatabase] = []
    for server in left {
      moved.append(try await move(server, from: database, to: target))
    }
    return moved
  }

  /// True if an earlier command has moved the database, and failed at the next one.
  private func isMoved(
    _ server: StoredServer, from cluster: PostgreSQLAddress, to target: PostgreSQLAddress
  ) async throws -> Bool {
    let (from, to) = (try server.source(in: cluster), server.movedDatabase(in: target))
    defer {
      from.close()
      to.close()
    }
    return try await reporting(server) {
      do {
        try await from.makeReady()
        return false
      } catch ServerDatabaseError.empty {
        guard try await from.hasRetiredTables() else { throw ServerDatabaseError.empty }
        do { try await server.move.requireEmpty(to) } catch DatabaseMove.Failure.notEmpty {
          return true
        }
        throw ServerDatabaseError.empty
      }
    }
  }

  private func requireEmptyOrEqual(
    _ server: StoredServer, from cluster: PostgreSQLAddress, to target: PostgreSQLAddress
  ) async throws {
    let (from, to) = (try server.source(in: cluster), server.movedDatabase(in: target))
    defer {
      from.close()
      to.close()
    }
    try await reporting(server) {
      try await server.moveBetweenServers.requireEmpty(to, orEqualTo: from)
    }
  }

  private func move(
    _ server: StoredServer, from cluster: PostgreSQLAddress, to target: PostgreSQLAddress
  ) async throws -> MovedDatabase {
    let (from, to) = (try server.source(in: cluster), server.movedDatabase(in: target))
    defer {
      from.close()
      to.close()
    }
    let retired = try await reporting(server) {
      try await server.moveBetweenServers.run(from: from, to: to, at: clock.now)
    }
    return MovedDatabase(server: server.name, rows: retired.rows, leftover: retired.schema)
  }

  private func serversInPostgreSQL() throws -> [StoredServer] {
    let servers = folder.servers.filter(\.usesPostgreSQL)
    guard !servers.isEmpty else {
      throw CommandFailure.badInput(
        "\(folder.url.path.printable) has no server with its data in PostgreSQL: name the servers' folder with --data."
      )
    }
    return servers
  }

  private func reporting<Result>(
    _ server: StoredServer, _ work: () async throws -> Result
  ) async throws -> Result {
    do { return try await work() } catch { throw server.moveFailure(error) }
  }
}

extension StoredServer {
  /// The failure of a copy of the database between a file and PostgreSQL, or between two clusters.
  func moveFailure(_ error: any Error) -> any Error {
    let database = postgreSQLName
    return switch error {
    case let error as CommandFailure: error
    case ServerDatabaseError.denied(let message):
      CommandFailure.badInput(
        "The role of the address may not change \(database) (\(message)): use one that owns the database."
      )
    case let error as ServerDatabaseError: CommandFailure(error, of: schema)
    case let error as DatabaseMove.Failure: moveFailure(error, of: database)
    default:
      CommandFailure.machineFailed(
        "The data of the \(name.title) could not be copied: \(ErrorCause.text(error)). Nothing was stored."
      )
    }
  }

  private func moveFailure(_ failure: DatabaseMove.Failure, of database: String) -> CommandFailure {
    switch failure {
    case .notEmpty:
      .badInput(
        "The database \(database) has data already: nothing was copied. Create an empty one.")
    case .different(let table):
      .machineFailed(
        "The table \(table) of \(database) differs after the copy: nothing was stored. Check both disks."
      )
    case .inUse(let sessions):
      .badInput(
        "\(sessions) other \(sessions == 1 ? "session uses" : "sessions use") the database \(database): stop all"
          + " servers, on all machines.")
    case .unknownWithdrawals(let count):
      .badInput(
        "\(count) withdrawn \(count == 1 ? "file is" : "files are") in the database \(database) and not in the device"
          + " configuration of this folder: copy that of the process where they were withdrawn.")
    }
  }
}

extension StoredServer {
  /// The copy of the database from a file to PostgreSQL.
  var move: DatabaseMove {
    switch name {
    case .verification: VerificationServer.databaseMove
    case .keys: KeyServer.databaseMove
    case .console: HealthAuthorityConsole.databaseMove
    }
  }

  /// The copy of the database from PostgreSQL to a file.
  ///
  /// - Parameter withdrawn: The files that the device configuration withdraws, for the key server; nil for no check.
  func moveToFile(withdrawn: Set<KeyFileHash>?) -> DatabaseMove {
    switch name {
    case .verification: VerificationServer.databaseMoveToFile
    case .keys: KeyServer.databaseMoveToFile(withdrawn: withdrawn)
    case .console: HealthAuthorityConsole.databaseMoveToFile
    }
  }

  fileprivate var moveBetweenServers: DatabaseMove {
    switch name {
    case .verification: VerificationServer.databaseMove
    case .keys: KeyServer.databaseMoveBetweenServers
    case .console: HealthAuthorityConsole.databaseMoveBetweenServers
    }
  }

  /// The database in `cluster` that gets the data.
  func movedDatabase(in cluster: PostgreSQLAddress) -> PostgreSQLServerDatabase {
    postgreSQLDatabase(at: cluster.database(postgreSQLName))
  }

  /// The database in `cluster` that has the data, which must belong to the secrets of the folder.
  fileprivate func source(in cluster: PostgreSQLAddress) throws -> PostgreSQLServerDatabase {
    var address = cluster.database(postgreSQLName)
    address.mayBeEmpty = false
    return postgreSQLDatabase(at: address, secret: try databaseSecret())
  }

  /// The file that gets the data of a move, before it is the database.
  fileprivate var newDatabase: URL { database.appendingPathExtension("moving") }

  /// True if there is a file with the name of the database.
  fileprivate var hasFile: Bool { FileManager.default.fileExists(atPath: database.path) }

  /// True if the file has all data, with its own name or that of a move: the only transaction was committed.
  fileprivate func hasMovedFile() throws -> Bool {
    let file = hasFile ? database : newDatabase
    guard FileManager.default.fileExists(atPath: file.path) else { return false }
    return try ServerState.isClaimed(file, schema: schema)
  }

  /// Makes the new file the database of the server.
  fileprivate func useNewDatabase() throws {
    do {
      if !hasFile { try FileManager.default.moveItem(at: newDatabase, to: database) }
      try recordMoveToFiles()
      try removePostgreSQLRecord()
    } catch {
      throw CommandFailure.machineFailed(
        "The data is in \(newDatabase.path.printable): rename it to \(database.lastPathComponent), and delete"
          + " postgresql.json beside it.")
    }
  }

  /// Records that the data is in PostgreSQL, and gives the file a name that no server uses.
  ///
  /// - Returns: The file.
  fileprivate func retireDatabase() throws -> URL {
    let retired = movedDatabase
    // First: after an interruption a start without the record would create an empty file.
    try recordPostgreSQL()
    do {
      for suffix in DatabaseFile.suffixes {
        let file = database.path + suffix
        guard FileManager.default.fileExists(atPath: file) else { continue }
        try FileManager.default.moveItem(atPath: file, toPath: retired.path + suffix)
      }
    } catch {
      throw CommandFailure.machineFailed(
        "The data is in PostgreSQL, but \(database.path.printable) could not be renamed: rename it to"
          + " \(retired.lastPathComponent).")
    }
    return retired
  }
}
