// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite

/// Binds values to the parameters of a statement through the C API, without a `DatabaseValue` for each.
struct RawBinding {
  let statement: SQLiteStatement

  /// Binds an integer. A nil value leaves the parameter unbound, which is NULL.
  ///
  /// - Returns: `false` if SQLite could not bind the value; so do the other methods.
  func binds(_ number: Int64?, at index: Int32) -> Bool {
    guard let number else { return true }
    return sqlite3_bind_int64(statement, index, number) == SQLITE_OK
  }

  func binds(_ bytes: UnsafeRawBufferPointer, at index: Int32) -> Bool {
    sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count), Self.copied)
      == SQLITE_OK
  }

  func binds(_ bytes: Data, at index: Int32) -> Bool {
    bytes.withUnsafeBytes { binds($0, at: index) }
  }

  func binds(_ text: String, at index: Int32) -> Bool {
    var text = text
    return text.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), Self.copied)
          == SQLITE_OK
      }
    }
  }

  /// Makes SQLite copy the bytes: `SQLITE_TRANSIENT`, a macro that Swift does not import.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

extension Statement {
  /// Runs the statement with `arguments` and calls `body` for each row.
  ///
  /// - Throws: `DatabaseError`; `CancellationError` if the task is cancelled; the error of `body`.
  func forEachRow(
    _ arguments: StatementArguments, in db: Database, _ body: (SQLiteStatement) throws -> Void
  ) throws {
    try setArguments(arguments)
    defer { sqlite3_reset(sqliteStatement) }
    while true {
      switch sqlite3_step(sqliteStatement) {
      case SQLITE_ROW: try body(sqliteStatement)
      case SQLITE_DONE: return
      default: try db.throwLatestError()
      }
    }
  }
}

extension SQLiteStatement {
  /// The 16 bytes of the key in `column` of the current row as two words; nil if the size is different.
  func words(at column: Int32) -> (UInt64, UInt64)? {
    // SQLite knows the size of a column only after its value was requested.
    guard let bytes = sqlite3_column_blob(self, column),
      sqlite3_column_bytes(self, column) == TemporaryExposureKey.byteCount
    else { return nil }
    return bytes.loadUnaligned(as: (UInt64, UInt64).self)
  }
}

extension Database {
  /// Throws the error of the last SQLite call on this connection, as GRDB does for its own statements.
  ///
  /// - Throws: `DatabaseError`; `CancellationError` if the task was cancelled and interrupted the call.
  func throwLatestError() throws -> Never {
    let code = ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection))
    if code == .SQLITE_INTERRUPT { try Task.checkCancellation() }
    throw DatabaseError(resultCode: code, message: lastErrorMessage)
  }
}
