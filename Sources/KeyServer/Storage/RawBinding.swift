import Foundation
import GRDB
import GRDBSQLite

/// Binds values to the parameters of a statement as SQLite takes them, without a box of GRDB's for each.
struct RawBinding {
  let statement: SQLiteStatement

  /// A whole number; nil stays unbound, which is null.
  ///
  /// - Returns: Whether there was memory for it; so do the others.
  func binds(_ number: Int64?, at place: Int32) -> Bool {
    guard let number else { return true }
    return sqlite3_bind_int64(statement, place, number) == SQLITE_OK
  }

  /// A blob.
  func binds(_ bytes: UnsafeRawBufferPointer, at place: Int32) -> Bool {
    sqlite3_bind_blob(statement, place, bytes.baseAddress, Int32(bytes.count), Self.copied)
      == SQLITE_OK
  }

  /// A blob.
  func binds(_ bytes: Data, at place: Int32) -> Bool {
    bytes.withUnsafeBytes { binds($0, at: place) }
  }

  /// A text.
  func binds(_ text: String, at place: Int32) -> Bool {
    var text = text
    return text.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement, place, $0.baseAddress, Int32($0.count), Self.copied)
          == SQLITE_OK
      }
    }
  }

  /// Tells SQLite to copy the bytes at once: `SQLITE_TRANSIENT`, a macro that Swift does not see.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
