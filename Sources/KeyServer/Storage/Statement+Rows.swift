import GRDB
import GRDBSQLite

extension Statement {
  /// Runs the statement with `arguments` and gives `body` each row, as SQLite has it.
  ///
  /// - Throws: `DatabaseError`, `CancellationError` where the task is cancelled meanwhile, and what `body` throws.
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
