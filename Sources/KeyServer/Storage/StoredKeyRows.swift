// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import GRDBSQLite

/// The rows of `diagnosis_key` that a query selects, in the order of their keys.
///
/// SQLite passes the values of a row to a function, which collects some rows before `sqlite3_step` returns. A step for
/// each row, and a call for each of its values, would take half as long again.
final class StoredKeyRows {
  private static let function = "key_row"
  private static let collectedMax = 256
  /// SQLite passes the pointer on only to a function that asks for this type.
  private static let pointerType: StaticString = "StoredKeyRows"

  private let end: Int64
  private var rows: [StoredKeyRow] = []

  private init(end: Int64) {
    self.end = end
    rows.reserveCapacity(Self.collectedMax)
  }

  /// Adds the function to the connection, unless it has it and runs another statement.
  private static func addFunction(to db: Database) throws {
    let status = sqlite3_create_function_v2(
      db.sqliteConnection, function, Int32(1 + StoredKeyRow.Column.allCases.count),
      SQLITE_UTF8 | SQLITE_DIRECTONLY, nil, { StoredKeyRows.receive($0, $2) }, nil, nil, nil)
    guard status == SQLITE_OK || status == SQLITE_BUSY else { try db.throwLatestError() }
  }

  /// Calls `body` for each row until it returns false.
  ///
  /// - Parameters:
  ///   - source: A table, or a query in parentheses that sorts its rows, with the columns of `diagnosis_key`.
  ///   - order: Empty for a query: to sort again would collect all rows before the first step.
  ///   - condition: Conditions in SQL. The function may see rows that do not meet it, so `body` has to check it.
  ///   - end: The end of the exported period, in Unix seconds.
  /// - Throws: `DatabaseError`; `CancellationError` if the task is cancelled; the error of `body`.
  static func forEach(
    in db: Database, from source: String, where condition: String = "true",
    order: String = "ORDER BY key_data", _ arguments: StatementArguments = [:], end: Int64,
    _ body: (StoredKeyRow) throws -> Bool
  ) throws {
    try addFunction(to: db)
    let statement = try db.makeStatement(
      sql: """
        SELECT 1 FROM \(source)
        WHERE \(condition) AND \(function)($rows, \(StoredKeyRow.Column.list)) \(order)
        """)
    try statement.setArguments(arguments + ["rows": nil])
    let rows = StoredKeyRows(end: end)
    let (sqlite, pointer) = (
      statement.sqliteStatement, Unmanaged.passUnretained(rows).toOpaque()
    )
    let index = sqlite3_bind_parameter_index(sqlite, "$rows")
    defer {
      sqlite3_reset(sqlite)
      sqlite3_bind_null(sqlite, index)
      withExtendedLifetime((statement, rows)) {}
    }
    guard sqlite3_bind_pointer(sqlite, index, pointer, typeName, nil) == SQLITE_OK else {
      try db.throwLatestError()
    }
    while true {
      let status = sqlite3_step(sqlite)
      guard status == SQLITE_ROW || status == SQLITE_DONE else { try db.throwLatestError() }
      for row in rows.rows where try !body(row) { return }
      // SQLite notices it only in the next step.
      try Task.checkCancellation()
      guard status == SQLITE_ROW else { return }
      rows.rows.removeAll(keepingCapacity: true)
    }
  }

  private static var typeName: UnsafePointer<CChar> {
    UnsafeRawPointer(pointerType.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// Collects the row with `values`, the second and later arguments of the function. Its result is true if
  /// the rows have to be taken.
  private static func receive(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let values, let pointer = sqlite3_value_pointer(values[0], typeName) else {
      return sqlite3_result_error_code(context, SQLITE_MISUSE)
    }
    let rows = Unmanaged<StoredKeyRows>.fromOpaque(pointer).takeUnretainedValue()
    rows.rows.append(
      StoredKeyRow(
        SQLiteValues(values + 1), end: rows.end, regions: rows.rows.last?.regions ?? []))
    sqlite3_result_int(context, rows.rows.count < collectedMax ? 0 : 1)
  }
}

/// The arguments of a function of SQLite. The table is STRICT, so only values that may be NULL have to be
/// asked for their type.
struct SQLiteValues {
  private let values: UnsafeMutablePointer<OpaquePointer?>

  init(_ values: UnsafeMutablePointer<OpaquePointer?>) {
    self.values = values
  }

  func number(_ index: Int) -> Int64 { sqlite3_value_int64(values[index]) }

  func numberIfAny(_ index: Int) -> Int64? {
    sqlite3_value_type(values[index]) == SQLITE_NULL ? nil : number(index)
  }

  /// The bytes of a text or BLOB, valid until the function returns.
  func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    // SQLite knows the size only after the value was requested.
    let start = sqlite3_value_blob(values[index])
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[index])))
  }

  /// The 16 bytes of a key as two words; nil if the size is different.
  func words(_ index: Int) -> (UInt64, UInt64)? {
    let bytes = bytes(index)
    guard bytes.count == MemoryLayout<(UInt64, UInt64)>.size else { return nil }
    return bytes.loadUnaligned(as: (UInt64, UInt64).self)
  }
}
