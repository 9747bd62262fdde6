/// How the SQLite file is laid out. Documentation/KeyServer.md 3 says what each costs and saves.
enum SQLiteLimit {
  /// Bytes of a page; a file that exists keeps those it was made with.
  static let pageBytes = 1_024
  /// Pages that the write-ahead log holds before they are copied into the file.
  static let logPages = 32_768
  /// KiB of pages that the one writing connection keeps in memory.
  static let cacheKiB = 16_384
  /// How long a transaction waits for that of another process, in seconds.
  static let busySeconds: Double = 5
}
