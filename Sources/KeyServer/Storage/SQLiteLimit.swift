/// How the SQLite file is laid out. Documentation/KeyServer.md 3 says what each costs and saves.
enum SQLiteLimit {
  /// Bytes of a page; a file that exists keeps those it was made with.
  static let pageBytes = 2_048
  /// Pages that one upload writes: its token with its answer, and its part of a row of keys.
  static let pagesOfOneUpload = 4
  /// Pages in the write-ahead log before it is copied into the file, as far as they are counted.
  static let pagesInLog = 28_000
  /// Pages of the log at which SQLite copies it within a commit, should nobody have done so before.
  static let logPages = 65_536
  /// Keys that wait before they are sorted into the table: the more, the more of them share a page of it.
  static let waitingKeys = 28_000
  /// Keys that are sorted in with one commit, for which uploads wait meanwhile.
  static let keysSortedInOneCommit = 4_096
  /// In how many transactions used tokens are looked through for those that are over; a divisor of 256.
  static let partsOfTokens = 64
  /// Keys that the memory of those that are in is made for at least; it is made anew for twice as many as there
  /// are.
  static let knownKeysMin = 524_288
  /// KiB of pages that the one writing connection keeps in memory.
  static let cacheKiB = 16_384
  /// The same while a period is closed: the table is read from one end to the other, and no page is needed
  /// twice.
  static let cacheKiBWhileClosing = 8_192
  /// How long a transaction waits for that of another process, in seconds.
  static let busySeconds: Double = 5
}
