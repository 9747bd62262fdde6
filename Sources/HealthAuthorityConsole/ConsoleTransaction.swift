// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import PostgreSQL

/// An open transaction of the console's database. SQLite and PostgreSQL get the same statements.
///
/// Parameters are written as `?`. A transaction is valid only during the call that gets it.
struct ConsoleTransaction {
  /// A parameter; nil for NULL.
  typealias Argument = (any DatabaseValueConvertible)?

  private enum Engine {
    case file(Database)
    case postgreSQL(PostgreSQLTransaction)
  }

  private let engine: Engine

  init(_ database: Database) { engine = .file(database) }

  init(_ transaction: PostgreSQLTransaction) { engine = .postgreSQL(transaction) }

  /// Runs a statement and discards its result.
  func execute(sql: String, arguments: [Argument] = []) throws {
    _ = try change(sql: sql, arguments: arguments)
  }

  /// Runs a statement and returns the number of rows that it has inserted, changed or deleted.
  func change(sql: String, arguments: [Argument] = []) throws -> Int {
    switch engine {
    case .file(let db):
      try db.execute(sql: sql, arguments: StatementArguments(arguments))
      return db.changesCount
    case .postgreSQL(let transaction):
      return try Self.run(sql, arguments, transaction).changedCount
    }
  }

  /// Runs a statement and returns its rows, whose columns are read by their names.
  func rows(sql: String, arguments: [Argument] = []) throws -> [Row] {
    switch engine {
    case .file(let db):
      return try Row.fetchAll(db, sql: sql, arguments: StatementArguments(arguments))
    case .postgreSQL(let transaction):
      let rows = try Self.run(sql, arguments, transaction)
      let names = rows.columnNames
      return rows.indices.map { Self.row($0, of: rows, names) }
    }
  }

  /// Returns the first row; nil if there is none.
  func row(sql: String, arguments: [Argument] = []) throws -> Row? {
    try rows(sql: sql, arguments: arguments).first
  }

  /// Returns the integer in the first column of the first row; nil for NULL and if there is no row.
  func integer(sql: String, arguments: [Argument] = []) throws -> Int64? {
    switch engine {
    case .file(let db):
      return try Int64.fetchOne(db, sql: sql, arguments: StatementArguments(arguments))
    case .postgreSQL(let transaction):
      let rows = try Self.run(sql, arguments, transaction)
      guard rows.count > 0, let value = rows.value(0, 0) else { return nil }
      guard case .integer(let number) = value else {
        throw PostgreSQLError(.statement, "the first column is no integer")
      }
      return number
    }
  }

  /// Returns the number that a statement counts.
  func count(sql: String, arguments: [Argument] = []) throws -> Int {
    Int(try integer(sql: sql, arguments: arguments) ?? 0)
  }

  /// Returns the text in the first column of the first row; nil for NULL and if there is no row.
  func text(sql: String, arguments: [Argument] = []) throws -> String? {
    switch engine {
    case .file(let db):
      return try String.fetchOne(db, sql: sql, arguments: StatementArguments(arguments))
    case .postgreSQL(let transaction):
      let rows = try Self.run(sql, arguments, transaction)
      return rows.count > 0 ? rows.text(0, 0) : nil
    }
  }

  /// The column that orders the rows of `issued_code` as they were inserted.
  var insertionOrder: String {
    switch engine {
    case .file: "rowid"
    case .postgreSQL: "number"
    }
  }
}

extension ConsoleTransaction {
  private static func run(
    _ sql: String, _ arguments: [Argument], _ transaction: PostgreSQLTransaction
  ) throws -> PostgreSQLRows {
    let values = try arguments.map { try value(($0?.databaseValue ?? .null).storage) }
    let rows = try transaction.run([PostgreSQLStatement(numbered(sql), values)])
    guard let first = rows.first else {
      throw PostgreSQLError(.connectionLost, "a statement has no result")
    }
    return first
  }

  /// The text with `$1`, `$2` and so on for `?`. No statement of the console has another question mark.
  private static func numbered(_ sql: String) -> String {
    var (text, number) = ("", 0)
    for character in sql {
      guard character == "?" else {
        text.append(character)
        continue
      }
      number += 1
      text += "$\(number)"
    }
    return text
  }

  private static func value(_ storage: DatabaseValue.Storage) throws -> PostgreSQLValue {
    switch storage {
    case .null: return .null
    case .int64(let number): return .integer(number)
    case .double(let number):
      // No column has fractions.
      guard let integer = Int64(exactly: number) else {
        throw PostgreSQLError(.statement, "a parameter is no integer")
      }
      return .integer(integer)
    // PostgreSQL has no text with a null character. Nothing is stored with one: see `AuditLog`.
    case .string(let text): return .text(text.replacing("\0", with: "\u{FFFD}"))
    case .blob(let bytes): return .bytes(bytes)
    }
  }

  /// A row in the form of SQLite, so that both engines have one reader for each table.
  private static func row(_ number: Int, of rows: PostgreSQLRows, _ names: [String]) -> Row {
    var values: [String: (any DatabaseValueConvertible)?] = [:]
    for (column, name) in names.enumerated() {
      let value: (any DatabaseValueConvertible)? =
        switch rows.value(number, column) {
        case .integer(let number): number
        case .text(let text): text
        case .bytes(let bytes): bytes
        case nil: nil
        }
      values.updateValue(value, forKey: name)
    }
    return Row(values)
  }
}
