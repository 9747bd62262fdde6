import GRDB
import GRDBSQLite
import KeyServerAPI

/// One statement that inserts rows of `diagnosis_key`: all of them, or none.
///
/// The values go to SQLite as they are. As arguments of GRDB's, fourteen keys are a hundred and forty boxes,
/// which took longer to make and to unpack than SQLite takes for the rows.
struct KeyInsertion: Sendable {
  private let keys: [StoredKey]

  /// Inserts `keys`, of which there is one at least.
  init(_ keys: [StoredKey]) {
    self.keys = keys
  }

  /// Runs it.
  ///
  /// - Returns: Whether they are in; false, and none is, where the table has one with the same bytes.
  /// - Throws: `DatabaseError` of anything else.
  func isExecuted(in db: Database) throws -> Bool {
    let statement = try db.cachedStatement(sql: Self.sql(rows: keys.count)).sqliteStatement
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    var first: Int32 = 1
    for key in keys {
      guard key.bind(to: statement, from: first) else {
        throw DatabaseError(resultCode: .SQLITE_NOMEM)
      }
      first += StoredKey.columnCount
    }
    guard sqlite3_step(statement) != SQLITE_DONE else { return true }
    let code = ResultCode(rawValue: sqlite3_extended_errcode(db.sqliteConnection))
    // SQLite has undone this statement then, and only this one.
    guard code != .SQLITE_CONSTRAINT_PRIMARYKEY else { return false }
    throw DatabaseError(resultCode: code)
  }

  private static func sql(rows: Int) -> String {
    usual.indices.contains(rows) ? usual[rows] : text(rows: rows)
  }

  /// The statements for as many keys as one upload may have.
  private static let usual = (0...UploadLimit.keyCount.upperBound).map(text)

  private static func text(rows: Int) -> String {
    let places = Array(repeating: "?", count: Int(StoredKey.columnCount)).joined(separator: ",")
    let values = Array(repeating: "(\(places))", count: rows).joined(separator: ",")
    return "INSERT INTO diagnosis_key (\(StoredKey.columns)) VALUES \(values)"
  }
}
