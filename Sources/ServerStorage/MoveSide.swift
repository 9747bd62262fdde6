// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import PostgreSQL

/// The open transaction of one of the two databases of a move.
package enum MoveSide {
  case file(Database)
  case postgreSQL(PostgreSQLTransaction)

  /// Runs a statement and discards its result.
  package func run(_ sql: String) throws {
    switch self {
    case .file(let db): try db.execute(sql: sql)
    case .postgreSQL(let transaction): try transaction.runOnce(sql)
    }
  }

  /// True if the table has no rows.
  func isEmpty(_ table: String) throws -> Bool {
    let sql = "SELECT 1 FROM \"\(table)\" LIMIT 1"
    return switch self {
    case .file(let db): try Int.fetchOne(db, sql: sql) == nil
    case .postgreSQL(let transaction): try transaction.runOnce(sql).count == 0
    }
  }

  /// True if the database belongs to no secret.
  func isUnclaimed() throws -> Bool {
    let sql = "SELECT count(*) FROM server_state WHERE secret_check IS NULL"
    return switch self {
    case .file(let db): try Int.fetchOne(db, sql: sql) == 1
    case .postgreSQL(let transaction): try transaction.run(sql).firstInteger == 1
    }
  }
}

/// Rows that are read one after the other, in the order of the primary key.
struct MovedRows {
  /// Returns the next row; nil after the last one.
  let next: () throws -> [DatabaseValue]?
}

extension MoveSide {
  /// All rows of `table` as they are stored in the target, or as the source has them for it.
  func rows(of table: DatabaseMove.Table, isTarget: Bool) throws -> MovedRows {
    let values = table.columns.map { isTarget ? "\"\($0.name)\"" : $0.source }
    let place = isTarget ? "\"\(table.name)\"" : table.source
    switch self {
    case .file(let db):
      let order = (1...table.keyCount).map(String.init).joined(separator: ", ")
      let rows = try Row.fetchCursor(
        db, sql: "SELECT \(values.joined(separator: ", ")) FROM \(place) ORDER BY \(order)")
      return MovedRows { try rows.next().map { row in values.indices.map { row[$0] } } }
    case .postgreSQL(let transaction):
      let read = zip(table.columns, values).map { $0.kind.read($1) }
      let order = zip(table.columns, values).prefix(table.keyCount).map { $0.kind.ordered($1) }
      return try Self.rows(
        "SELECT \(read.joined(separator: ", ")) FROM \(place) ORDER BY \(order.joined(separator: ", "))",
        table.columns.map(\.kind), transaction)
    }
  }

  /// The number of rows that are read from PostgreSQL at once.
  private static let fetchedRows = 2_000

  private static func rows(
    _ sql: String, _ kinds: [DatabaseMove.Table.Kind], _ transaction: PostgreSQLTransaction
  ) throws -> MovedRows {
    try transaction.run("CLOSE ALL")
    try transaction.runOnce("DECLARE moved NO SCROLL CURSOR FOR \(sql)")
    var (rows, next): (PostgreSQLRows?, Int) = (nil, 0)
    return MovedRows {
      if next == rows?.count ?? 0 {
        (rows, next) = (try transaction.runOnce("FETCH \(fetchedRows) FROM moved"), 0)
      }
      guard let rows, next < rows.count else { return nil }
      defer { next += 1 }
      return kinds.indices.map { kinds[$0].value(rows, next, $0) }
    }
  }

  /// Inserts rows in the target and returns their number.
  func insert(_ rows: MovedRows, into table: DatabaseMove.Table) throws -> Int {
    switch self {
    case .file(let db): try Self.insert(rows, into: table, db)
    case .postgreSQL(let transaction): try Self.insert(rows, into: table, transaction)
    }
  }

  private static func insert(
    _ rows: MovedRows, into table: DatabaseMove.Table, _ db: Database
  ) throws -> Int {
    let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let places = table.columns.map { _ in "?" }.joined(separator: ", ")
    let statement = try db.makeStatement(
      sql: "INSERT INTO \"\(table.name)\" (\(names)) VALUES (\(places))")
    var count = 0
    while let row = try rows.next() {
      try statement.execute(arguments: StatementArguments(row))
      count += 1
    }
    return count
  }

  /// Copies the rows through a temporary table, because the binary format needs the exact types.
  private static func insert(
    _ rows: MovedRows, into table: DatabaseMove.Table, _ transaction: PostgreSQLTransaction
  ) throws -> Int {
    let columns = table.columns
    let definition = columns.enumerated().map { "c\($0) \($1.kind.type)" }.joined(separator: ", ")
    try transaction.runOnce("CREATE TEMPORARY TABLE moved (\(definition)) ON COMMIT DROP")
    try transaction.copyIn(
      "COPY moved FROM STDIN (FORMAT binary)",
      PostgreSQLCopiedRows(columns: columns.count) {
        try rows.next().map { row in zip(columns, row).map { $0.kind.value($1) } }
      })
    let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let values = columns.enumerated().map { $1.kind.stored("c\($0)") }.joined(separator: ", ")
    let inserted = try transaction.runOnce(
      "INSERT INTO \"\(table.name)\" (\(names)) SELECT \(values) FROM moved")
    try transaction.runOnce("DROP TABLE moved")
    return inserted.changedCount
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

  /// The value for the temporary table.
  fileprivate func value(_ value: DatabaseValue) -> PostgreSQLValue {
    switch self {
    case .integer: .integer(Int64.fromDatabaseValue(value))
    case .text: .text(String.fromDatabaseValue(value))
    case .bytes, .identity: .bytes(Data.fromDatabaseValue(value))
    case .bool: .bool(Bool.fromDatabaseValue(value) ?? false)
    }
  }

  /// The value as SQLite stores it.
  fileprivate func value(_ rows: PostgreSQLRows, _ row: Int, _ column: Int) -> DatabaseValue {
    switch self {
    case .integer: (rows.integer(row, column)).databaseValue
    case .text: (rows.text(row, column)).databaseValue
    case .bytes, .identity: (rows.bytes(row, column)).databaseValue
    case .bool: rows.bool(row, column).databaseValue
    }
  }

  /// The expression that converts the temporary value `value`.
  fileprivate func stored(_ value: String) -> String {
    self == .identity ? "encode(\(value), 'hex')::uuid" : value
  }

  /// The expression that reads `value` in the type of the temporary table.
  fileprivate func read(_ value: String) -> String {
    switch self {
    case .integer: "(\(value))::bigint"
    case .identity: "uuid_send(\(value))"
    case .text, .bytes, .bool: value
    }
  }

  /// The expression that orders as SQLite does.
  fileprivate func ordered(_ value: String) -> String {
    self == .text ? "(\(value)) COLLATE \"C\"" : read(value)
  }
}
