import ExposureKeys
import GRDB
import GRDBSQLite

extension SQLiteStatement {
  /// The sixteen bytes of a key in `column` of the present row, as memory holds them; nil where they are not
  /// sixteen.
  func words(at column: Int32) -> (UInt64, UInt64)? {
    // SQLite knows how many bytes a column has once it has been asked for them.
    guard let bytes = sqlite3_column_blob(self, column),
      sqlite3_column_bytes(self, column) == TemporaryExposureKey.byteCount
    else { return nil }
    return bytes.loadUnaligned(as: (UInt64, UInt64).self)
  }
}
