// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import PostgreSQL
import QuietHTTP
import ServerStorage
import Settings
import Terminal
import VerificationServer

/// The move of the databases from the folder to PostgreSQL.
extension ServerSetup {
  /// The tables of a moved database.
  package struct MovedDatabase: Sendable {
    package let server: ServerName
    /// The numbers of copied rows by table.
    package let rows: [String: Int]
    /// The file that has the data still.
    package let file: URL
  }

  /// Copies the databases of the stopped servers to PostgreSQL, and compares every row. Each is copied in one
  /// transaction. Then its file gets another name, and the server uses only PostgreSQL.
  ///
  /// - Throws: `CommandFailure` if there is no file, a server runs, the database in PostgreSQL has data or cannot be
  ///   reached. Servers that were moved before stay moved.
  package func moveDatabases() async throws -> [MovedDatabase] {
    guard let database else {
      throw CommandFailure.badInput("Set DATABASE_URL to the address of the PostgreSQL cluster.")
    }
    let files = [ServerName.verification, .keys].map(folder.server).filter {
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
    // All of them before the first copy, so that a database that is not empty leaves everything as it was.
    for server in files {
      try await reporting(server) {
        try await server.move.requireEmpty(server.movedDatabase(in: database))
      }
    }
    var moved: [MovedDatabase] = []
    for server in files {
      let rows = try await reporting(server) {
        try await server.move.run(from: server.database, to: server.movedDatabase(in: database))
      }
      moved.append(
        MovedDatabase(server: server.name, rows: rows, file: try server.retireDatabase()))
    }
    return moved
  }

  private func reporting<Result>(
    _ server: StoredServer, _ work: () async throws -> Result
  ) async throws -> Result {
    let name = "firebreak_\(server.name.rawValue)"
    do { return try await work() } catch let error as ServerDatabaseError {
      throw CommandFailure(error, of: server.schema)
    } catch DatabaseMove.Failure.notEmpty {
      throw CommandFailure.badInput(
        "The database \(name) has data already: nothing was copied. Create an empty one.")
    } catch DatabaseMove.Failure.different(let table) {
      throw CommandFailure.machineFailed(
        "The table \(table) of \(name) differs from the file after the copy: nothing was stored in this database."
          + " Check both disks."
      )
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure.machineFailed(
        "\(server.database.path.printable) could not be copied: \(ErrorCause.text(error)). Nothing was stored in"
          + " \(name)."
      )
    }
  }
}

extension StoredServer {
  fileprivate var move: DatabaseMove {
    name == .keys ? KeyServer.databaseMove : VerificationServer.databaseMove
  }

  /// The database in `cluster` that gets the data.
  fileprivate func movedDatabase(in cluster: PostgreSQLAddress) -> PostgreSQLServerDatabase {
    postgreSQLDatabase(at: cluster.database("firebreak_\(name.rawValue)"))
  }

  /// Records that the data is in PostgreSQL, and gives the file a name that no server uses.
  ///
  /// - Returns: The file.
  fileprivate func retireDatabase() throws -> URL {
    let retired = movedDatabase
    // First: after an interruption a start without the record would create an empty file.
    try recordPostgreSQL()
    do {
      for suffix in ["", "-wal", "-shm"] {
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
