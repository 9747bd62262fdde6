import GRDB
import GRDBSQLite

/// One statement that inserts rows of `diagnosis_key`, one at a time.
///
/// The values go to SQLite as they are. As arguments of GRDB's, a key is ten boxes, which took longer to make
/// and to unpack than SQLite takes for the row. GRDB is therefore not told that the table has changed:
/// nothing here observes it.
struct KeyInsertion {
  private let cached: Statement
  private let db: Database

  /// A statement of the connection `db`.
  init(in db: Database) throws {
    self.db = db
    cached = try db.cachedStatement(
      sql: """
        INSERT INTO diagnosis_key (\(StoredKey.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """)
  }

  /// Inserts `keys`, each unless the table has one with the same bytes: that one stays as it is. Keys in the
  /// order of their bytes find one another's pages at hand.
  ///
  /// - Throws: `DatabaseError`, `CancellationError` where the task is cancelled meanwhile.
  func insert(_ keys: some Sequence<StoredKey>) throws {
    try withExtendedLifetime(cached) {
      let statement = cached.sqliteStatement
      defer {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
      for key in keys {
        // What is nil stays unbound, and must not keep the value of the key before.
        sqlite3_clear_bindings(statement)
        guard key.bind(by: RawBinding(statement: statement), from: 1),
          sqlite3_step(statement) == SQLITE_DONE
        else { try db.throwLatestError() }
        sqlite3_reset(statement)
      }
    }
  }
}
