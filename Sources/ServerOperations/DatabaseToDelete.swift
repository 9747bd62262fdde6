// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import QuietHTTP
import ServerStorage
import Settings
import Terminal

/// A database in PostgreSQL whose tables are deleted at the end of a service.
struct DatabaseToDelete {
  private let server: StoredServer
  private let database: PostgreSQLServerDatabase
  private let tables: [DeletionCertificate.File]

  fileprivate init(
    of server: StoredServer, _ database: PostgreSQLServerDatabase,
    tables: [DeletionCertificate.File]
  ) {
    self.server = server
    self.database = database
    self.tables = tables
  }

  /// Deletes the tables, and those that moves have left.
  ///
  /// - Throws: `CommandFailure`; the error of the record.
  func delete(_ record: inout DeletionRecord) async throws {
    for table in tables { try record.willDelete(table) }
    do { try await database.deleteTables() } catch { throw server.deletionFailure(error) }
  }

  /// Closes the connections.
  func close() { database.close() }
}

extension ServerSetup {
  /// The databases of the servers in PostgreSQL. All are checked before the first is deleted; those that an interrupted
  /// run has deleted are left out.
  ///
  /// - Throws: `CommandFailure` if one cannot be reached, is used, or is not that of its server, or if a move to files
  ///   has left data.
  func databasesToDelete(_ record: DeletionRecord) async throws -> [DatabaseToDelete] {
    for server in folder.servers where !server.usesPostgreSQL && server.hasMovedToFiles {
      try await requireNoLeftovers(of: server)
    }
    var found: [DatabaseToDelete] = []
    do {
      for server in folder.servers where server.usesPostgreSQL {
        if let database = try await databaseToDelete(of: server, record) { found.append(database) }
      }
    } catch {
      for database in found { database.close() }
      throw error
    }
    return found
  }

  private func databaseToDelete(
    of server: StoredServer, _ record: DeletionRecord
  ) async throws -> DatabaseToDelete? {
    guard let address = try databaseAddress(of: server.name) else { return nil }
    let secret = try server.databaseSecret()
    let database = server.postgreSQLDatabase(at: address, secret: secret)
    do {
      let tables = try await database.tablesWithLeftovers()
      guard secret != nil else {
        throw CommandFailure.badInput(
          "\(server.secrets.url.path.printable) is missing, so that it is not known whose data"
            + " \(address.databaseName) has: copy it from another process, or delete the tables by hand."
        )
      }
      try await database.requireUnused()
      return DatabaseToDelete(
        of: server, database,
        tables: tables.map { .init(path: "\(address.databaseName) \($0.name)", bytes: $0.bytes) })
    } catch ServerDatabaseError.empty where record.hasTables(of: address.databaseName) {
      // An interrupted run has deleted them.
      database.close()
      return nil
    } catch {
      database.close()
      throw server.deletionFailure(error)
    }
  }

  /// Throws unless the tables are deleted that a move to files has left in PostgreSQL.
  private func requireNoLeftovers(of server: StoredServer) async throws {
    guard let cluster = database else {
      throw CommandFailure.badInput(
        "The data of the \(server.name.title) was moved from PostgreSQL to files: set DATABASE_URL to the address of"
          + " the cluster, which may have the old tables; if it is gone, delete"
          + " \(server.moveToFilesRecord.path.printable).")
    }
    let database = server.movedDatabase(in: cluster)
    defer { database.close() }
    let schemas: [String]
    do { schemas = try await database.retiredSchemas() } catch {
      throw server.deletionFailure(error)
    }
    guard let schema = schemas.first else { return }
    throw CommandFailure.badInput(
      "The database \(server.postgreSQLName) has data that a move to files has left: run"
        + " `DROP SCHEMA \(schema) CASCADE` in it, and then this command again.")
  }
}

extension StoredServer {
  /// The failure of the deletion of the database in PostgreSQL.
  fileprivate func deletionFailure(_ error: any Error) -> any Error {
    let database = postgreSQLName
    return switch error {
    case ServerDatabaseError.empty:
      CommandFailure.badInput(
        "The database \(database) is empty, and this command has not deleted its tables: correct DATABASE_URL; if they"
          + " were deleted otherwise, delete postgresql.json in the folder of the \(name.title).")
    case is CommandFailure, is ServerDatabaseError, is DatabaseMove.Failure: moveFailure(error)
    default:
      CommandFailure.machineFailed(
        "The tables of \(database) could not be deleted: \(ErrorCause.text(error)). Run the command again."
      )
    }
  }
}
