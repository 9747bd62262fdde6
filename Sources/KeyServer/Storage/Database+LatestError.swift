import GRDB
import GRDBSQLite

extension Database {
  /// What the last call of SQLite's on this connection failed of.
  var latestError: DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
      message: lastErrorMessage)
  }

  /// Fails as GRDB's own statements do: of what the last call failed of, or of being cancelled where that is
  /// what interrupted it.
  ///
  /// - Throws: `DatabaseError`, or `CancellationError`.
  func throwLatestError() throws -> Never {
    let error = latestError
    if error.resultCode == .SQLITE_INTERRUPT { try Task.checkCancellation() }
    throw error
  }
}
