// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import PostgreSQL
import QuietHTTP
import ServerStorage
import Settings
import Terminal
import VerificationServer

/// The check of all databases of the folder, and their migration before the servers start.
extension ServerSetup {
  /// The result of the check of one database.
  package struct CheckedDatabase: Sendable {
    package let server: ServerName
    /// The name of the database in PostgreSQL, or the path of the file.
    package let database: String
    /// Nil if the database is empty or could not be read.
    package let content: DatabaseContent?
    /// The fault and its remedy; nil for none.
    package let fault: CommandFailure?
  }

  /// The content of a database.
  package struct DatabaseContent: Sendable {
    /// The number of its migrations, and of those of this version of the program.
    package let version, newestVersion: Int
    /// The number of rows by table.
    package let rows: [String: Int]
    /// The number of rows by partition of a table, in PostgreSQL.
    package let partitions: [String: Int]
    /// The number of rows with a wrong checksum; nil if they were not checked, because the schema is older.
    package let damagedRows: Int?

    fileprivate init?(_ state: DatabaseState) {
      guard state.isIntact, state.version > 0 else { return nil }
      (version, newestVersion) = (state.version, state.newestVersion)
      (rows, partitions, damagedRows) = (state.rows, state.partitions, state.damagedRows)
    }
  }

  /// The result of the migration of one database.
  package struct MigratedDatabase: Sendable {
    package let server: ServerName
    /// The name of the database in PostgreSQL, or the path of the file.
    package let database: String
    /// The number of migrations before; 0 for a database that was empty.
    package let earlierVersion: Int
    /// The number of migrations.
    package let version: Int
    /// The role that got rights on the tables; nil for none.
    package let role: String?
  }

  /// Checks the databases of the folder without changing them, also while the servers run.
  ///
  /// - Throws: `CommandFailure` if there are none. Faults of databases are in the result.
  package func checkDatabases() async throws -> [CheckedDatabase] {
    let servers = storedDatabases
    guard !servers.isEmpty else { throw noDatabases }
    var checked: [CheckedDatabase] = []
    for server in servers {
      do {
        let (name, state) = try await state(of: server)
        checked.append(
          CheckedDatabase(
            server: server.name, database: name, content: DatabaseContent(state),
            fault: fault(of: name, state)))
      } catch {
        checked.append(
          CheckedDatabase(
            server: server.name, database: self.name(of: server), content: nil,
            fault: failure(error, of: server)))
      }
    }
    return checked
  }

  private func state(of server: StoredServer) async throws -> (name: String, DatabaseState) {
    guard let address = try databaseAddress(of: server.name) else {
      return (
        server.database.path.printable,
        try server.inspection.state(of: server.database, secretCheck: try server.secretCheck())
      )
    }
    let database = server.postgreSQLDatabase(at: address, secret: try server.databaseSecret())
    return (address.databaseName, try await server.inspection.state(of: database))
  }

  /// Creates or migrates the tables of all databases. Files are migrated only while no server runs.
  ///
  /// - Parameter role: The role of the servers, which gets rights on the tables in PostgreSQL; nil for the name of each
  ///   database, if there is such a role.
  /// - Throws: `CommandFailure`. Databases that were migrated before stay migrated.
  package func migrateDatabases(grantingTo role: String?) async throws -> [MigratedDatabase] {
    let servers = storedDatabases
    guard !servers.isEmpty else { throw noDatabases }
    for server in servers { try databaseAddress(of: server.name) }
    let locks = try database == nil ? ServerLocks(folder, servers.map(\.name)) : nil
    defer { withExtendedLifetime(locks) {} }
    var migrated: [MigratedDatabase] = []
    for server in servers {
      do {
        migrated.append(try await migrate(server, grantingTo: role))
      } catch {
        throw failure(error, of: server)
      }
    }
    return migrated
  }

  private func migrate(
    _ server: StoredServer, grantingTo role: String?
  ) async throws -> MigratedDatabase {
    guard let address = try databaseAddress(of: server.name) else {
      let before = try server.inspection.state(
        of: server.database, secretCheck: try server.secretCheck())
      guard before.isIntact else { throw ServerDatabaseError.damaged }
      try ServerDatabase.open(server.database, schema: server.schema).close()
      return MigratedDatabase(
        server: server.name, database: server.database.path.printable,
        earlierVersion: before.version, version: before.newestVersion, role: nil)
    }
    let database = server.postgreSQLDatabase(at: address, secret: try server.databaseSecret())
    if let role, try await !database.hasRole(role) {
      throw CommandFailure.badInput(
        "The PostgreSQL cluster has no role \(role.printable): create it with createuser, or correct --role."
      )
    }
    let granted = role ?? address.databaseName
    let result = try await database.migrate(grantingTo: granted)
    return MigratedDatabase(
      server: server.name, database: address.databaseName, earlierVersion: result.earlierVersion,
      version: result.version, role: result.isGranted ? granted : nil)
  }

  /// The servers whose databases the folder has, or all in the cluster before their first start.
  private var storedDatabases: [StoredServer] {
    let all = folder.servers
    let inFiles = all.filter { FileManager.default.fileExists(atPath: $0.database.path) }
    guard database != nil else {
      return all.filter { server in
        server.usesPostgreSQL || inFiles.contains { $0.name == server.name }
      }
    }
    // One that is still in a file is named by `databaseAddress(of:)`.
    let known = all.filter { server in
      server.usesPostgreSQL || inFiles.contains { $0.name == server.name }
    }
    return known.isEmpty ? all : known
  }

  private var noDatabases: CommandFailure {
    .badInput(
      "\(folder.url.path.printable) has no databases: name the servers' folder with --data, or set DATABASE_URL to"
        + " the address of the PostgreSQL cluster.")
  }

  /// The name of the database of `server` for a message.
  private func name(of server: StoredServer) -> String {
    database == nil
      ? server.database.path.printable : server.postgreSQLName
  }

  private func fault(of name: String, _ state: DatabaseState) -> CommandFailure? {
    let fault: String? =
      if !state.isIntact {
        "\(name) is damaged: check its disk, and restore a backup."
      } else if state.version == 0 {
        "\(name) is empty: `firebreak database migrate` or the first start of the server creates its tables."
      } else if !state.isCurrent {
        "\(name) has an older schema, and its rows were not checked: run `firebreak database migrate`, or start the"
          + " servers of this version."
      } else if let count = state.damagedRows, count > 0 {
        "\(name) has \(count) damaged \(count == 1 ? "row" : "rows"), which the server does not use: check its disk,"
          + " and restore a backup."
      } else if !state.deniedTables.isEmpty {
        "\(name) does not let the role of DATABASE_URL change \(state.deniedTables.joined(separator: ", ")): run"
          + " `firebreak database migrate` with a role that owns the tables."
      } else {
        nil
      }
    return fault.map { CommandFailure(status: .no, message: $0) }
  }

  private func failure(_ error: any Error, of server: StoredServer) -> CommandFailure {
    switch error {
    case let error as CommandFailure: error
    case ServerDatabaseError.otherSecret: otherSecrets(server.secrets.url, of: server.name)
    case let error as ServerDatabaseError: CommandFailure(error, of: server.schema)
    default:
      .machineFailed(
        "\(name(of: server)) cannot be read: \(ErrorCause.text(error)). Check its disk.")
    }
  }
}

extension StoredServer {
  fileprivate var inspection: DatabaseInspection {
    switch name {
    case .verification: VerificationServer.databaseInspection
    case .keys: KeyServer.databaseInspection
    case .console: DatabaseInspection(schema)
    }
  }

  /// The secret that the database belongs to; nil before the first start of the server.
  ///
  /// - Throws: `CommandFailure` if the secrets are damaged, or lost while the database is a file.
  func databaseSecret() throws -> Data? {
    switch name {
    case .verification: try VerificationSecrets.stored(in: folder)?.codeHashKey
    case .keys: try KeySecrets.stored(in: folder)?.databaseKey
    case .console:
      try secrets.read(ConsoleSecrets.self, neededBy: folder.consoleDatabase)?.databaseKey
    }
  }

  /// The value in the database that shows if it belongs to the secret.
  fileprivate func secretCheck() throws -> Data? {
    guard let secret = try databaseSecret() else { return nil }
    return switch name {
    case .verification: VerificationServer.databaseCheck(of: secret)
    case .keys: KeyServer.databaseCheck(of: secret)
    case .console: HealthAuthorityConsole.databaseCheck(of: secret)
    }
  }
}
