import GRDB
import GRDBSQLite
import KeyServerAPI

/// One statement that inserts rows of `diagnosis_key`: all of them, or none.
///
/// The values go to SQLite as they are. As arguments of GRDB's, fourteen keys are a hundred and forty boxes,
/// which took longer to make and to unpack than SQLite takes for the rows. GRDB is therefore not told that the
/// table has changed: nothing here observes it.
struct KeyInsertion: Sendable {
  private let keys: [StoredKey]

  /// Inserts `keys`, of which there is one at least.
  init(_ keys: [StoredKey]) {
    precondition(!keys.isEmpty, "there are rows to insert")
    self.keys = keys
  }

  /// Inserts them, unless the table has one with the same bytes: then none is inserted.
  ///
  /// - Returns: Whether they are in.
  /// - Throws: `DatabaseError` of anything else, `CancellationError` where the task is cancelled meanwhile.
  func insertUnlessPresent(in db: Database) throws -> Bool {
    let cached = try db.cachedStatement(sql: Self.sql(rows: keys.count))
    return try withExtendedLifetime(cached) {
      let statement = cached.sqliteStatement
      defer {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
      try bind(to: statement, in: db)
      guard sqlite3_step(statement) != SQLITE_DONE else { return true }
      // SQLite has undone this statement then, and only this one.
      guard db.latestError.extendedResultCode != .SQLITE_CONSTRAINT_PRIMARYKEY else { return false }
      try db.throwLatestError()
    }
  }

  private func bind(to statement: SQLiteStatement, in db: Database) throws {
    var first: Int32 = 1
    for key in keys {
      guard key.bind(by: RawBinding(statement: statement), from: first) else {
        try db.throwLatestError()
      }
      first += StoredKey.columnCount
    }
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
