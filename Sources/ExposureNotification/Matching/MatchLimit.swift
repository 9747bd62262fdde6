// SPDX-License-Identifier: Apache-2.0
/// The memory limits of matching.
package enum MatchLimit {
  /// Keys per batch. Cancellation is checked before each batch.
  package static let keysPerBatch = 8_192
  /// Keys per batch against more than `manySightings`.
  package static let keysPerLargeBatch = 65_536
  /// With more sightings, the filters of 14 days exceed the second-level cache, and each batch loads all of them again:
  /// at a million, 585 keys of a day in a row take twice as long per key as 4,680.
  package static let manySightings = 100_000
  /// Queued batches per additional thread.
  static let queuedBatchesPerThread = 2
  /// Threads of one search, including the caller's.
  package static let threads = 1...16
  /// Candidates that the kernels return at once.
  static let candidates = 4_096
  /// 32-bit words of a day's filter per identifier, before rounding up to a power of two.
  ///
  /// Twice as many halve the false positives, but then the filters of 200,000 identifiers exceed the
  /// cache, which costs more.
  static let filterWordsPerIdentifier = 2
  /// The size of a day's filter in words, as a power of two: 64 bytes (the kernels' alignment) to 1 MiB
  /// (fits the second-level cache). Larger ones are slower up to four million sightings: they save comparisons and lose
  /// more in the cache.
  static let filterWordsLog2 = 4...18

  /// The keys per batch against this number of sightings.
  package static func keysPerBatch(against sightingCount: Int) -> Int {
    sightingCount > manySightings ? keysPerLargeBatch : keysPerBatch
  }
}
