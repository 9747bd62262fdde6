// SPDX-License-Identifier: Apache-2.0
import GRDB

/// The check of the structure of a database.
package enum DatabaseCheck {
  /// True if SQLite finds no fault. Values are not checked: that needs checksums in the rows.
  package static func isIntact(_ db: Database) throws -> Bool {
    do {
      return try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok"
    } catch let error as DatabaseError where isDamage(error) {
      return false
    }
  }

  /// True if the error means that the file is damaged or no database.
  package static func isDamage(_ error: DatabaseError) -> Bool {
    [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
  }
}
