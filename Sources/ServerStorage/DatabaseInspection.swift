// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import PostgreSQL

/// The check of a server's database that changes nothing, also while its server runs.
package struct DatabaseInspection: Sendable {
  private let schema: DatabaseSchema
  private let damagedRows: @Sendable (Database) throws -> Int
  private let damagedRowsInPostgreSQL: @Sendable (PostgreSQLTransaction) throws -> Int

  /// - Parameters:
  ///   - schema: The schema of the file.
  ///   - damagedRows: Counts the rows with a wrong checksum in SQLite.
  ///   - damagedRowsInPostgreSQL: The same in PostgreSQL.
  package init(
    _ schema: DatabaseSchema,
    damagedRows: @escaping @Sendable (Database) throws -> Int = { _ in 0 },
    damagedRowsInPostgreSQL: @escaping @Sendable (PostgreSQLTransaction) throws -> Int = { _ in 0 }
  ) {
    self.schema = schema
    self.damagedRows = damagedRows
    self.damagedRowsInPostgreSQL = damagedRowsInPostgreSQL
  }

  /// Checks the database in `file`.
  ///
  /// - Parameter secretCheck: The value of the secret that it must belong to; nil for no check.
  /// - Throws: `ServerDatabaseError.newer`; `.otherSecret`; `.unavailable`.
  package func state(of file: URL, secretCheck: Data?) throws -> DatabaseState {
    do {
      let pool = try ServerDatabase.openForReading(file, schema: schema)
      let state = try pool.read { db in
        if let secretCheck, try ServerState.belongsToOther(than: secretCheck, in: db) {
          throw ServerDatabaseError.otherSecret
        }
        return try inspect(db)
      }
      try pool.close()
      return state
    } catch let error as ServerDatabaseError {
      throw error
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      return DatabaseState(version: 0, newestVersion: schema.migrations.migrations.count)
        .damaged
    } catch {
      throw ServerDatabaseError.unavailable
    }
  }

  private func inspect(_ db: Database) throws -> DatabaseState {
    var state = DatabaseState(
      version: try schema.migrations.appliedMigrations(db).count,
      newestVersion: schema.migrations.migrations.count)
    guard try DatabaseCheck.isIntact(db) else { return state.damaged }
    let tables = try String.fetchAll(
      db,
      sql: """
        SELECT name FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'grdb_migrations'
        """)
    for table in tables {
      state.rows[table] = try Int.fetchOne(
        db, sql: "SELECT count(*) FROM \(table.quotedDatabaseIdentifier)")
    }
    if state.isCurrent { state.damagedRows = try damagedRows(db) }
    return state
  }

  /// Checks a database in PostgreSQL, also on a standby.
  ///
  /// - Throws: `ServerDatabaseError`
  package func state(of database: PostgreSQLServerDatabase) async throws -> DatabaseState {
    let newest = database.schema.migrations.count
    do {
      return try await database.inspecting(mayBeStandby: true) { [self] transaction in
        guard try database.hasTables(transaction) else {
          return DatabaseState(version: 0, newestVersion: newest)
        }
        var state = DatabaseState(
          version: try database.version(transaction), newestVersion: newest)
        _ = try database.isClaimed(transaction)
        try Self.count(&state, transaction)
        if state.isCurrent { state.damagedRows = try damagedRowsInPostgreSQL(transaction) }
        return state
      }
    } catch ServerDatabaseError.damaged {
      return DatabaseState(version: 0, newestVersion: newest).damaged
    }
  }

  /// Counts the rows of all tables and of their partitions, and lists the tables that this role may not write.
  private static func count(
    _ state: inout DatabaseState, _ transaction: PostgreSQLTransaction
  ) throws {
    let tables = try transaction.run(
      """
      SELECT relname::text, relkind = 'p', has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')
      FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition
      ORDER BY relname
      """)
    for row in tables.indices {
      guard let name = tables.text(row, 0) else { continue }
      if name != "schema_version", !tables.bool(row, 2) { state.deniedTables.append(name) }
      guard tables.bool(row, 1) else {
        let rows = try transaction.runOnce("SELECT count(*) FROM \"\(name)\"")
        state.rows[name] = Int(rows.firstInteger ?? 0)
        continue
      }
      let partitions = try rows(ofPartitionsOf: name, transaction)
      state.rows[name] = partitions.values.reduce(0, +)
      state.partitions.merge(partitions) { $1 }
    }
  }

  /// Counts the rows of each partition through its table, whose rights a role has.
  private static func rows(
    ofPartitionsOf table: String, _ transaction: PostgreSQLTransaction
  ) throws -> [String: Int] {
    var numbers: [String: Int] = [:]
    let partitions = try transaction.run(
      "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::text::regclass",
      .text("\"\(table)\""))
    for row in partitions.indices { numbers[partitions.text(row, 0) ?? ""] = 0 }
    let counts = try transaction.runOnce(
      "SELECT tableoid::regclass::text, count(*) FROM \"\(table)\" GROUP BY 1")
    for row in counts.indices {
      numbers[counts.text(row, 0) ?? ""] = Int(counts.integer(row, 1) ?? 0)
    }
    return numbers
  }
}

/// The state of a server's database.
package struct DatabaseState: Hashable, Sendable {
  /// The number of its migrations; 0 if it is empty or cannot be read.
  package let version: Int
  /// The number of migrations of this version of the program.
  package let newestVersion: Int
  /// The number of rows by table.
  package internal(set) var rows: [String: Int] = [:]
  /// The number of rows by partition of a table, in PostgreSQL.
  package internal(set) var partitions: [String: Int] = [:]
  /// The number of rows with a wrong checksum; nil if they were not checked, because the schema is older.
  package internal(set) var damagedRows: Int?
  /// False if the structure or a page of the database is damaged.
  package private(set) var isIntact = true
  /// The tables that the role of this process may not change, in PostgreSQL.
  package internal(set) var deniedTables: [String] = []

  init(version: Int, newestVersion: Int) {
    self.version = version
    self.newestVersion = newestVersion
  }

  /// True if the schema is that of this version of the program.
  package var isCurrent: Bool { version == newestVersion }

  /// The same database with damage.
  var damaged: DatabaseState {
    var state = self
    state.isIntact = false
    return state
  }
}
