import GRDB
import GRDBSQLite

extension StoredKey {
  /// The columns that a key is inserted with, in the order `bind` gives their values.
  static let columns = """
    key_data, rolling_start, rolling_period, transmission_risk, report_type, days_since_onset, \
    regions, travels, released_at, is_padding
    """
  /// How many they are.
  static let columnCount: Int32 = 10

  /// Binds the values of its columns to `statement` from the parameter `first` on. What is nil stays
  /// unbound, which is null.
  ///
  /// - Returns: Whether there was memory for all of them.
  func bind(to statement: SQLiteStatement, from first: Int32) -> Bool {
    func isBound(_ value: Int64?, at place: Int32) -> Bool {
      guard let value else { return true }
      return sqlite3_bind_int64(statement, first + place, value) == SQLITE_OK
    }
    return bindBytes(to: statement, at: first)
      && isBound(rollingStart, at: 1) && isBound(rollingPeriod, at: 2)
      && isBound(transmissionRisk, at: 3) && isBound(reportType, at: 4)
      && isBound(daysSinceOnset, at: 5) && bindRegions(to: statement, at: first + 6)
      && isBound(travels ? 1 : 0, at: 7) && isBound(releasedAt, at: 8)
      && isBound(isPadding ? 1 : 0, at: 9)
  }

  private func bindBytes(to statement: SQLiteStatement, at place: Int32) -> Bool {
    withUnsafeBytes(of: words) {
      sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), Self.copied) == SQLITE_OK
    }
  }

  private func bindRegions(to statement: SQLiteStatement, at place: Int32) -> Bool {
    var regions = regions
    return regions.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement, place, $0.baseAddress, Int32($0.count), Self.copied)
          == SQLITE_OK
      }
    }
  }

  /// Tells SQLite to copy the bytes at once: `SQLITE_TRANSIENT`, a macro that Swift does not see.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
