/// How much memory matching takes at most. Documentation/Matching.md 7.
package enum MatchLimit {
  /// Keys searched for at once, and between two looks at whether anybody still wants to know.
  package static let keysPerBatch = 8_192
  /// Batches that may wait for each helping thread.
  static let batchesWaiting = 2
  /// Threads that search at once, the one that reads included.
  package static let threads = 1...16
  /// Candidates that the kernels may hand over at once.
  static let candidates = 4_096
  /// Words of 32 bits in a day's filter for each identifier heard, before rounding up to a power of 2.
  ///
  /// Twice as many let half as many strangers through, but then the filters of 200,000 identifiers no
  /// longer stay in the cache from one batch to the next, which costs more (Documentation/Matching.md 4.1).
  static let filterWordsPerIdentifier = 2
  /// Words of a day's filter, as a power of two: 64 bytes, as the kernels align, to 1 MiB, as the
  /// second-level cache holds.
  static let filterWordsLog2 = 4...18
}
