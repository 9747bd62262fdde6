import Foundation
import GRDB
import World

/// The files of an open database: the database and its write-ahead log.
///
/// If someone deletes or replaces one of them, SQLite goes on with the open file. What it writes then is lost when the
/// server stops, so nothing may be acknowledged any more.
package struct DatabaseFile: Sendable {
  private let files: [(path: String, opened: FileVersion)]

  /// The files of the database at `url`, which is open and was written to.
  package init(opened url: URL) {
    files = ["", "-wal"].compactMap { suffix in
      let path = url.path + suffix
      return FileVersion(path: path).map { (path, $0) }
    }
  }

  /// True if each file is still the one that is open.
  package var isInPlace: Bool {
    !files.isEmpty
      && files.allSatisfy { FileVersion(path: $0.path)?.isSameFile(as: $0.opened) == true }
  }
}

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
  static func isDamage(_ error: DatabaseError) -> Bool {
    [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
  }
}
