import GRDB
import GRDBSQLite

extension Database {
  /// What the last call of SQLite's on this connection failed of.
  var latestError: DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
      message: lastErrorMessage)
  }
}
