// SPDX-License-Identifier: Apache-2.0
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
