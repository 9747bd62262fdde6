// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import PostgreSQL

/// Copies the database of a server that is not running to another one, and proves that both are equal.
///
/// The tables are those of the target. Each row is copied in one transaction, and then read again and compared with
/// that of the source before the transaction is committed.
package struct DatabaseMove: Sendable {
  /// A reason why nothing was copied.
  package enum Failure: Error, Hashable, Sendable {
    /// The target has rows.
    case notEmpty
    /// The rows of this table differ after they were copied.
    case different(table: String)
    /// This many other sessions use the database in PostgreSQL that would be moved.
    case inUse(sessions: Int)
    /// This many withdrawn files are only in the database in PostgreSQL, and a file does not keep them.
    case unknownWithdrawals(count: Int)
  }

  /// The result of a move from PostgreSQL: the tables are in a schema that no server uses.
  package struct Retired: Hashable, Sendable {
    /// The result for data that an earlier command has moved, which was interrupted afterwards.
    package static let earlier = Retired(rows: [:], schema: nil)

    /// The numbers of copied rows by table.
    package let rows: [String: Int]
    /// The name of the schema; nil if an earlier command has moved the data.
    package let schema: String?
  }

  package typealias Step = @Sendable (_ source: MoveSide, _ target: MoveSide) throws -> Void

  private let schema: DatabaseSchema
  private let tables: [Table]
  private let before: Step
  private let after: Step

  /// - Parameters:
  ///   - schema: The schema of the file.
  ///   - tables: The tables of the target, in an order that references allow, apart from `server_state`.
  ///   - stateColumns: The columns of `server_state` beside those that all servers have.
  ///   - before: Runs in the transactions before rows are copied.
  ///   - after: Runs in the transactions after rows were copied.
  package init(
    _ schema: DatabaseSchema, tables: [Table], stateColumns: [Table.Column] = [],
    before: @escaping Step = { _, _ in }, after: @escaping Step = { _, _ in }
  ) {
    self.schema = schema
    self.tables = tables + [Self.state(stateColumns)]
    self.before = before
    self.after = after
  }

  private static func state(_ more: [Table.Column]) -> Table {
    Table(
      "server_state",
      [
        .init("id", .integer), .init("secret_check", .bytes), .init("newest_time", .integer),
        .init("confirmed_time", .integer),
      ] + more)
  }

  /// Throws `Failure.notEmpty` if the database in PostgreSQL has rows.
  package func requireEmpty(_ target: PostgreSQLServerDatabase) async throws {
    try await target.transaction { [self] in try requireEmpty(.postgreSQL($0)) }
  }

  private func requireEmpty(_ target: MoveSide) throws {
    for table in tables.dropLast() {
      guard try target.isEmpty(table.name) else { throw Failure.notEmpty }
    }
    guard try target.isUnclaimed() else { throw Failure.notEmpty }
  }

  /// Copies and compares all rows in open transactions.
  private func copy(from source: MoveSide, to target: MoveSide) throws -> [String: Int] {
    try requireEmpty(target)
    // The row of a new database belongs to no secret, and is replaced.
    try target.run("DELETE FROM server_state")
    try before(source, target)
    var counts: [String: Int] = [:]
    for table in tables {
      counts[table.name] = try target.insert(source.rows(of: table, isTarget: false), into: table)
    }
    _ = try requireEqual(source, target)
    try after(source, target)
    return counts
  }

  /// Compares all rows, and returns their numbers by table.
  ///
  /// - Throws: `Failure.different`
  private func requireEqual(_ source: MoveSide, _ target: MoveSide) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for table in tables {
      let (given, stored) = (
        try source.rows(of: table, isTarget: false), try target.rows(of: table, isTarget: true)
      )
      var count = 0
      while true {
        let row = try given.next()
        guard try stored.next() == row else { throw Failure.different(table: table.name) }
        if row == nil { break }
        count += 1
      }
      counts[table.name] = count
    }
    return counts
  }

  /// Throws `Failure.notEmpty` if `target` has rows, unless they are those of `source`: a move was interrupted between
  /// its two commits.
  package func requireEmpty(
    _ target: PostgreSQLServerDatabase, orEqualTo source: PostgreSQLServerDatabase
  ) async throws {
    do { try await requireEmpty(target) } catch Failure.notEmpty {
      try await source.transaction(
        .snapshot, seconds: PostgreSQLLimit.longRequestSeconds
      ) { [self] transaction in
        _ = try target.blocking(.snapshot, seconds: PostgreSQLLimit.longRequestSeconds) {
          try equalRows(.postgreSQL(transaction), .postgreSQL($0))
        }
      }
    }
  }

  /// The numbers of rows that both have; throws `Failure.notEmpty` if they differ.
  private func equalRows(_ source: MoveSide, _ target: MoveSide) throws -> [String: Int] {
    do { return try requireEqual(source, target) } catch Failure.different {
      throw Failure.notEmpty
    }
  }
}

extension DatabaseMove {
  /// Copies all rows of the database in `file` to PostgreSQL.
  ///
  /// - Returns: The numbers of copied rows by table.
  /// - Throws: `Failure`; `ServerDatabaseError`; `DatabaseError`.
  package func run(
    from file: URL, to target: PostgreSQLServerDatabase
  ) async throws -> [String: Int] {
    let queue = try ServerDatabase.openConnection(file, schema: schema)
    try schema.migrations.migrate(queue)
    let counts = try await target.transaction(seconds: PostgreSQLLimit.longRequestSeconds) {
      [self] transaction in
      try queue.read { try copy(from: .file($0), to: .postgreSQL(transaction)) }
    }
    try queue.close()
    return counts
  }

  /// Copies all rows of a database in PostgreSQL to the new file `file`, and retires that database.
  ///
  /// - Throws: As the other variant; then the file is not complete, and nothing is retired.
  package func run(
    from source: PostgreSQLServerDatabase, toNew file: URL, at now: Date
  ) async throws -> Retired {
    try await source.moving(at: now) { [self] transaction, retire in
      try copy(transaction, toNew: file) { _ in try retire() }
    }
  }

  /// Copies all rows of a database in PostgreSQL, as of one moment, to the new file `file`, and changes no row.
  ///
  /// - Throws: As the other variants.
  package func copy(_ source: PostgreSQLServerDatabase, toNew file: URL) async throws {
    try await source.transaction(.snapshot, seconds: DatabaseCopyLimit.seconds) {
      [self] transaction in
      try PostgreSQLServerDatabase.beginCopy(transaction)
      _ = try copy(transaction, toNew: file) { _ in }
    }
  }

  /// Copies all rows of an open transaction in PostgreSQL to the new file `file`.
  ///
  /// - Parameter finish: Runs in the transaction of the file after all rows were compared.
  /// - Returns: The numbers of copied rows by table.
  func copy(
    _ source: PostgreSQLTransaction, toNew file: URL, finish: (Database) throws -> Void
  ) throws -> [String: Int] {
    // Of an earlier attempt.
    for suffix in DatabaseFile.suffixes {
      try? FileManager.default.removeItem(atPath: file.path + suffix)  // None may be there.
    }
    DatabaseFile.createPrivately(file)
    let queue = try ServerDatabase.openConnection(file, schema: schema)
    try schema.migrations.migrate(queue)
    let counts = try queue.write { db in
      let counts = try copy(from: .postgreSQL(source), to: .file(db))
      try finish(db)
      return counts
    }
    try queue.close()
    return counts
  }

  /// Copies all rows of the database in `file` to an empty one in PostgreSQL, and blocks the thread. `finish` runs
  /// before the rows are stored; if it throws, none is.
  ///
  /// - Throws: As the other variants; the error of `finish`.
  package func copy(
    from file: URL, to target: PostgreSQLServerDatabase, finish: () throws -> Void
  ) throws {
    let queue = try ServerDatabase.openConnection(file, schema: schema)
    try schema.migrations.migrate(queue)
    try target.blocking(seconds: DatabaseCopyLimit.seconds) { transaction in
      // The transaction is idle while other databases are copied.
      try transaction.run("SET LOCAL idle_in_transaction_session_timeout = 0")
      try transaction.run("SET LOCAL statement_timeout = 0")
      _ = try queue.read { try copy(from: .file($0), to: .postgreSQL(transaction)) }
      // `finish` may remove the file.
      try queue.close()
      try finish()
    }
  }

  /// Copies the rows, unless an interrupted move has stored them.
  private func copyOrCompare(_ source: MoveSide, _ target: MoveSide) throws -> [String: Int] {
    do { try requireEmpty(target) } catch Failure.notEmpty {
      return try equalRows(source, target)
    }
    return try copy(from: source, to: target)
  }

  /// Copies all rows of a database in PostgreSQL to one of another server, and retires the first one. If an interrupted
  /// move has stored all rows, it is only retired.
  ///
  /// - Throws: As the other variant; then nothing is stored and nothing is retired.
  package func run(
    from source: PostgreSQLServerDatabase, to target: PostgreSQLServerDatabase, at now: Date
  ) async throws -> Retired {
    try await target.makeReady()
    return try await source.moving(at: now) { [self] transaction, retire in
      try target.database.blockingTransaction(seconds: PostgreSQLLimit.longRequestSeconds) {
        let counts = try copyOrCompare(.postgreSQL(transaction), .postgreSQL($0))
        try retire()
        return counts
      }
    }
  }
}

extension DatabaseMove {
  /// A table of the target, and the rows of the source that it gets.
  package struct Table: Sendable {
    /// The type of a column in both databases.
    package enum Kind: Sendable {
      case integer, text, bytes
      /// 0 or 1 in SQLite.
      case bool
      /// 16 bytes in SQLite, a `uuid` in PostgreSQL.
      case identity
    }

    /// A column of the target.
    package struct Column: Sendable {
      let name: String
      let kind: Kind
      /// The expression of its value in the source.
      package let source: String

      /// - Parameter source: The expression of the value in the source; nil for the column of the same name.
      package init(_ name: String, _ kind: Kind, from source: String? = nil) {
        self.name = name
        self.kind = kind
        self.source = source ?? "\"\(name)\""
      }
    }

    package let name: String
    let columns: [Column]
    let source: String
    let keyCount: Int

    /// - Parameters:
    ///   - name: The name in the target.
    ///   - columns: The columns, those of the primary key first.
    ///   - keyCount: The number of columns of the primary key.
    ///   - source: The text after `FROM` in the source; nil for the table of the same name.
    package init(_ name: String, _ columns: [Column], keyCount: Int = 1, from source: String? = nil)
    {
      self.name = name
      self.columns = columns
      self.keyCount = keyCount
      self.source = source ?? "\"\(name)\""
    }
  }
}
