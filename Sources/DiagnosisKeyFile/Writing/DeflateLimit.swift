/// How a key file is cut up to be deflated, and how much of it is in memory at once.
///
/// Documentation/KeyFiles.md 6.5 has the reasons. No figure here depends on the machine but the number of
/// threads, which changes no byte of a file.
enum DeflateLimit {
  /// Bytes of an entry that are deflated together; the last piece has what is left.
  static let pieceByteCount = 128 << 10
  /// Bytes before a piece that what is in it may refer to: deflate's window.
  static let dictionaryByteCount = 32 << 10
  /// How zlib looks for repetitions: as level 6 does (good 8, lazy 16, chains of 128), but content with one
  /// of 16 bytes and not only of 128. What two keys have in common lies between their random bytes and is
  /// hardly ever longer, so looking on finds nothing: the files are the same, a sixth of the time is not spent.
  static let search = (good: Int32(8), lazy: Int32(16), nice: Int32(16), chain: Int32(128))
  /// Threads that deflate at once, the one that encodes included.
  static let threads = 1...4
  /// Pieces that may wait for each helping thread before the one that encodes lends a hand.
  static let piecesWaiting = 2
  /// Pieces that were begun and are not yet in the file, whoever is slow.
  static let piecesUnderWayMax = 16
}
