/// When a database puts its file in order beside the commits.
struct SQLiteUpkeep: Sendable {
  /// Keys that wait, at most or some more, before they are sorted into their table.
  var waitingKeysMax = SQLiteLimit.waitingKeys
  /// Pages of the write-ahead log, as far as they are counted, before it is copied into the file.
  var pagesInLogMax = SQLiteLimit.pagesInLog
}
