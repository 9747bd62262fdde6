/// How the SQLite file is laid out. Documentation/KeyServer.md 3 says what each costs and saves.
enum SQLiteLimit {
  /// Bytes of a page; a file that exists keeps those it was made with.
  static let pageBytes = 1_024
  /// Keys in the write-ahead log before it is copied into the file: two pages each, or some more.
  static let keysInLog = 14_000
  /// Pages of the log at which SQLite copies it within a commit, should nobody have done so before.
  static let logPages = 65_536
  /// KiB of pages that the one writing connection keeps in memory.
  static let cacheKiB = 16_384
  /// The same while a period is closed: the table is read from one end to the other, and no page is needed
  /// twice.
  static let cacheKiBWhileClosing = 8_192
  /// How long a transaction waits for that of another process, in seconds.
  static let busySeconds: Double = 5
}
