// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import PostgreSQL

/// Copies the database of a server that is not running from SQLite to PostgreSQL, and proves that both are equal.
package struct DatabaseMove: Sendable {
  /// A reason why nothing was copied.
  package enum Failure: Error, Hashable, Sendable {
    /// The database in PostgreSQL has rows.
    case notEmpty
    /// The rows of this table differ after they were copied.
    case different(table: String)
  }

  package typealias Step = @Sendable (Database, PostgreSQLTransaction) throws -> Void

  private let schema: DatabaseSchema
  private let tables: [Table]
  private let before: Step
  private let after: Step

  /// - Parameters:
  ///   - schema: The schema of the file.
  ///   - tables: The tables in PostgreSQL, in an order that references allow, apart from `server_state`.
  ///   - stateColumns: The columns of `server_state` beside those that all servers have.
  ///   - before: Runs in the transaction before rows are copied.
  ///   - after: Runs in the transaction after rows were copied.
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
    try await target.transaction { [self] in try requireEmpty($0) }
  }

  /// Copies all rows of the database in `file` in one transaction, and compares each of them before it commits.
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
      try queue.read { db in
        try requireEmpty(transaction)
        // The row of a new database belongs to no secret, and is replaced.
        try transaction.run("DELETE FROM server_state")
        try before(db, transaction)
        var counts: [String: Int] = [:]
        for table in tables { counts[table.name] = try table.copy(from: db, to: transaction) }
        for table in tables { try table.compare(db, transaction) }
        try after(db, transaction)
        return counts
      }
    }
    try queue.close()
    return counts
  }

  private func requireEmpty(_ transaction: PostgreSQLTransaction) throws {
    for table in tables.dropLast() {
      guard try transaction.run("SELECT FROM \"\(table.name)\" LIMIT 1").count == 0 else {
        throw Failure.notEmpty
      }
    }
    let unclaimed = try transaction.run("SELECT FROM server_state WHERE secret_check IS NULL")
    guard unclaimed.count == 1 else { throw Failure.notEmpty }
  }
}

extension DatabaseMove {
  /// A table in PostgreSQL, and the rows of SQLite that it gets.
  package struct Table: Sendable {
    /// The type of a column in both databases.
    package enum Kind: Sendable {
      case integer, text, bytes
      /// 0 or 1 in SQLite.
      case bool
      /// 16 bytes in SQLite, a `uuid` in PostgreSQL.
      case identity
    }

    /// A column in PostgreSQL.
    package struct Column: Sendable {
      let name: String
      let kind: Kind
      /// The expression of its value in SQLite.
      let source: String

      /// - Parameter source: The expression of the value in SQLite; nil for the column of the same name.
      package init(_ name: String, _ kind: Kind, from source: String? = nil) {
        self.name = name
        self.kind = kind
        self.source = source ?? "\"\(name)\""
      }
    }

    package let name: String
    private let columns: [Column]
    private let source: String
    private let keyCount: Int

    /// - Parameters:
    ///   - name: The name in PostgreSQL.
    ///   - columns: The columns, those of the primary key first.
    ///   - keyCount: The number of columns of the primary key.
    ///   - source: The text after `FROM` in SQLite; nil for the table of the same name.
    package init(_ name: String, _ columns: [Column], keyCount: Int = 1, from source: String? = nil)
    {
      self.name = name
      self.columns = columns
      self.keyCount = keyCount
      self.source = source ?? "\"\(name)\""
    }
  }
}

extension DatabaseMove.Table {
  /// All rows in SQLite, in the order of the primary key.
  private func rows(of db: Database) throws -> RowCursor {
    let list = columns.map(\.source).joined(separator: ", ")
    let order = (1...keyCount).map(String.init).joined(separator: ", ")
    return try Row.fetchCursor(db, sql: "SELECT \(list) FROM \(source) ORDER BY \(order)")
  }

  /// Copies the rows through a temporary table, because the binary format needs the exact types.
  ///
  /// - Returns: The number of rows.
  fileprivate func copy(from db: Database, to transaction: PostgreSQLTransaction) throws -> Int {
    let definition = columns.enumerated().map { "c\($0) \($1.kind.type)" }.joined(separator: ", ")
    try transaction.runOnce("CREATE TEMPORARY TABLE moved (\(definition)) ON COMMIT DROP")
    let rows = try rows(of: db)
    try transaction.copyIn(
      "COPY moved FROM STDIN (FORMAT binary)",
      PostgreSQLCopiedRows(columns: columns.count) {
        try rows.next().map { row in columns.indices.map { columns[$0].kind.value(row, $0) } }
      })
    let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let values = columns.enumerated().map { $1.kind.stored("c\($0)") }.joined(separator: ", ")
    let inserted = try transaction.runOnce(
      "INSERT INTO \"\(name)\" (\(names)) SELECT \(values) FROM moved")
    try transaction.runOnce("DROP TABLE moved")
    return inserted.changedCount
  }

  /// Reads both tables in the order of the primary key, and throws at the first difference.
  fileprivate func compare(_ db: Database, _ transaction: PostgreSQLTransaction) throws {
    let rows = try rows(of: db)
    let values = columns.map { $0.kind.read("\"\($0.name)\"") }
    let order = columns.prefix(keyCount).map { $0.kind.ordered("\"\($0.name)\"") }
    let sql = """
      SELECT \(values.joined(separator: ", ")) FROM "\(name)" ORDER BY \(order.joined(separator: ", "))
      """
    let difference = DatabaseMove.Failure.different(table: name)
    try transaction.copyOut("COPY (\(sql)) TO STDOUT (FORMAT binary)") { copied in
      guard let row = try rows.next() else { throw difference }
      for (index, column) in columns.enumerated()
      where !column.kind.isNext(of: &copied, in: row, index) { throw difference }
    }
    guard try rows.next() == nil else { throw difference }
  }
}

extension DatabaseMove.Table.Kind {
  /// The type of a column of the temporary table.
  fileprivate var type: String {
    switch self {
    case .integer: "bigint"
    case .text: "text"
    case .bytes, .identity: "bytea"
    case .bool: "boolean"
    }
  }

  fileprivate func value(_ row: Row, _ index: Int) -> PostgreSQLValue {
    switch self {
    case .integer: .integer(row[index] as Int64?)
    case .text: .text(row[index] as String?)
    case .bytes, .identity: .bytes(row[index] as Data?)
    case .bool: .bool(row[index])
    }
  }

  /// The expression that converts the temporary value `value`.
  fileprivate func stored(_ value: String) -> String {
    self == .identity ? "encode(\(value), 'hex')::uuid" : value
  }

  /// The expression that reads the column `column` in the type of the temporary table.
  fileprivate func read(_ column: String) -> String {
    switch self {
    case .integer: "\(column)::bigint"
    case .identity: "uuid_send(\(column))"
    case .text, .bytes, .bool: column
    }
  }

  /// The expression that orders as SQLite does.
  fileprivate func ordered(_ column: String) -> String {
    self == .text ? "\(column) COLLATE \"C\"" : read(column)
  }

  /// Returns true if the next column of `copied` has the value of `row`.
  fileprivate func isNext(
    of copied: inout PostgreSQLCopiedRow, in row: Row, _ index: Int
  ) -> Bool {
    switch self {
    case .integer: copied.nextInteger() == row[index] as Int64?
    case .bool: copied.nextBool() == row[index] as Bool
    case .text:
      copied.nextBytes().map { String(decoding: $0, as: UTF8.self) } == row[index] as String?
    case .bytes, .identity: copied.nextBytes().map { Data($0) } == row[index] as Data?
    }
  }
}
