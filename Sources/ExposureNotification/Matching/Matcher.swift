import CExposureKernels
import DiagnosisKeyFile
import ExposureKeys
import Secrets

/// Finds what a phone heard of the people whose keys were published.
///
/// Documentation/Matching.md. Only facts: the rules on what to make of them are steps of their own
/// (`PlausibilityRule`, `ReplayRule`). Any number of threads may search with one matcher at once.
package struct Matcher: Sendable {
  /// How far the clocks of two phones may be apart, in intervals: two hours.
  package static let toleranceIntervals: UInt32 = 12

  let index: ContactIndex
  private let tier: MatchTier
  private let plans: SearchPlanCache

  /// A matcher against what was heard.
  ///
  /// `tier` must be one that this processor has; the fastest unless told otherwise. `direction` is
  /// left to the matcher except in tests and measurements.
  package init(
    _ index: ContactIndex, tier: MatchTier = .fastest, direction: MatchDirection = .automatic
  ) {
    precondition(tier.isAvailable, "this processor lacks \(tier.rawValue)")
    self.index = index
    self.tier = tier
    plans = SearchPlanCache(index, tier: tier, direction: direction)
  }

  /// The intervals whose identifiers may be heard in `interval`.
  static func tolerance(around interval: IntervalNumber) -> ClosedRange<UInt32> {
    let number = interval.rawValue
    let (end, overflow) = number.addingReportingOverflow(toleranceIntervals)
    return (number - min(number, toleranceIntervals))...(overflow ? .max : end)
  }

  /// Memory for one thread to search with.
  func makeScratch() -> MatchScratch {
    MatchScratch(capacity: MatchLimit.keysPerBatch, groupCount: index.reach.groupCount)
  }

  /// The keys of `batch` that were heard within their declared period, with their sightings, in the
  /// order of the batch: a key that comes twice is found twice.
  package func search(_ batch: KeyBatch) -> BatchResult {
    search(batch, with: makeScratch())
  }

  func search(_ batch: KeyBatch, with scratch: MatchScratch) -> BatchResult {
    var result = BatchResult()
    var hits = BatchHits(of: batch)
    result.counters.keys = batch.count
    for start in stride(from: 0, to: batch.count, by: scratch.capacity) {
      let rows = batch.rows[start..<min(start + scratch.capacity, batch.count)]
      let runs = scratch.sort(rows, by: index.reach)
      result.counters.keysSkipped += rows.count - (runs.last?.places.upperBound ?? 0)
      for run in runs {
        result.counters.candidates += search(run, scratch, rowsFrom: start, &hits)
      }
    }
    result.counters.hits = hits.count
    result.matches = hits.matches(in: index)
    return result
  }
}

extension Matcher {
  /// Searches for the keys of one run, of the rows from `firstRow` of the batch on; what is certain goes
  /// into `hits`. Returns how many candidates there were.
  private func search(
    _ run: MatchScratch.Run, _ scratch: MatchScratch, rowsFrom firstRow: Int,
    _ hits: inout BatchHits
  ) -> Int {
    let plan = plans.plan(of: run.group)
    var (start, count) = (run.places.lowerBound, 0)
    while start < run.places.upperBound {
      var keysDone = 0
      let found = plan.candidates(
        in: scratch, from: start, count: run.places.upperBound - start, tier, keysDone: &keysDone)
      for candidate in UnsafeBufferPointer(start: scratch.candidates, count: found) {
        let words = candidate.words
        if let number = index.number(of: words, near: candidate.interval) {
          let row = firstRow + Int(scratch.row[start + Int(candidate.key_index)])
          hits.add(row: row, interval: candidate.interval, identifier: number)
        }
      }
      precondition(keysDone > 0, "the kernels always finish a key")
      start += keysDone
      count += found
    }
    return count
  }
}

/// What the search for one batch of keys found.
package struct BatchResult: Sendable, Redacted {
  /// The keys that were heard, in the batch's order.
  package var matches: [EncryptedMatch] = []
  /// The keys whose time is not over, in the batch's order; none unless the search asked for them.
  package var unexpiredKeys: [DiagnosisKey] = []
  /// Whether the keys replace what was published of them before.
  package var areRevised = false
  /// How much work it was.
  package var counters = MatchCounters()
}

/// How much work a search was.
package struct MatchCounters: Hashable, Sendable {
  /// Usable keys that were searched for.
  package var keys = 0
  /// Those of them that were not even derived, as nothing was heard in their time.
  package var keysSkipped = 0
  /// Identifiers that passed the filter, or looked right decrypted, and were compared exactly.
  package var candidates = 0
  /// Pairs of key and interval that explain something heard.
  package var hits = 0

  /// No work yet.
  package init() {}

  /// The work of both.
  static func += (left: inout MatchCounters, right: MatchCounters) {
    left.keys += right.keys
    left.keysSkipped += right.keysSkipped
    left.candidates += right.candidates
    left.hits += right.hits
  }
}

/// How much memory matching takes at most. Documentation/Matching.md 7.
package enum MatchLimit {
  /// Keys searched for at once, and between two looks at whether anybody still wants to know.
  package static let keysPerBatch = 8_192
  /// Batches that may wait for each helping thread.
  static let queuedBatchesPerThread = 2
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
