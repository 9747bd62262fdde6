// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Synchronization
import World

/// Searches the keys of files, or keys in memory, on several threads.
///
/// ```swift
/// let index = ContactIndex(sightings, secret: ProbeSecret(from: SystemRandomness()))
/// let matcher = Matcher(index)
/// var search = KeySearch(matcher, threads: 2)
/// var matches = RawMatches()
/// let file = UnverifiedKeyFile(at: url)
/// let verified = try search.run(into: &matches) { each in  // a zip, or x.bin beside x.sig
///   try file.verified(by: keys, batchSize: matcher.keysPerBatch, each: each)
/// }
/// let counts = try search.run(into: &matches) { each in  // no hash and no signature check
///   try file.scannedKeys(batchSize: matcher.keysPerBatch, each: each)
/// }
/// try search.run(into: &matches) { each in  // `KeyBatch`es in memory
///   for batch in batches { try each(ProvisionalKeyBatch(keys: batch)) }
/// }
/// print(search.counters.hits, search.counters.keysSkipped, matches.sightingCount)
/// ```
package struct KeySearch {
  typealias Pool = OrderedThreadPool<ProvisionalKeyBatch, BatchResult, Never>

  private let matcher: Matcher
  private let threads: Int
  private let unexpiredKeys: UnexpiredKeyFilter?
  private let progress: Progress?
  /// The work for all sources that were read without an error.
  package private(set) var counters = MatchCounters()

  /// Creates a search.
  ///
  /// - Parameters:
  ///   - threads: The number of threads, including the caller's; clamped to `MatchLimit.threads`.
  ///   - unexpiredKeys: If set, batch results also list the keys that it selects.
  ///   - progress: If it is cancelled, `run` throws `CancellationError` before the next batch.
  package init(
    _ matcher: Matcher, threads: Int = 1, unexpiredKeys: UnexpiredKeyFilter? = nil,
    progress: Progress? = nil
  ) {
    self.matcher = matcher
    self.threads = min(max(threads, MatchLimit.threads.lowerBound), MatchLimit.threads.upperBound)
    self.unexpiredKeys = unexpiredKeys
    self.progress = progress
  }

  /// Searches all keys that `read` passes to its argument and adds the matches to `collector`, in the
  /// order of the keys.
  ///
  /// `read` must return only after the source of the keys is verified.
  ///
  /// - Throws: The error of `read`, or `CancellationError`. `collector` and `counters` are unchanged then.
  package mutating func run<Collector: MatchCollector, Result>(
    into collector: inout Collector,
    _ read: ((ProvisionalKeyBatch) throws -> Void) throws -> Result
  ) throws -> Result {
    let pool = makePool()
    var provisional = (collector: collector, counters: counters)
    func add(_ results: [BatchResult]) {
      for result in results {
        provisional.counters += result.counters
        provisional.collector.add(result)
      }
    }
    do {
      let result = try read { batch in
        guard progress?.isCancelled != true else { throw CancellationError() }
        add(pool.submit(batch))
      }
      add(pool.finish())
      (collector, counters) = provisional
      return result
    } catch {
      pool.cancel()
      throw error
    }
  }

  /// A thread pool that searches batches. At most one scratch per thread exists at a time.
  func makePool() -> Pool {
    let (matcher, unexpiredKeys) = (matcher, unexpiredKeys)
    let scratches = ScratchPool()
    return Pool(threads: threads, queuedPerThreadMax: MatchLimit.queuedBatchesPerThread) { batch in
      let scratch = scratches.take() ?? matcher.makeScratch()
      defer { scratches.put(scratch) }
      var result = matcher.search(batch.keys, with: scratch)
      result.areRevised = batch.areRevised
      if let unexpiredKeys { result.unexpiredKeys = unexpiredKeys.keys(of: batch.keys.rows) }
      return result
    }
  }
}

/// Scratch buffers that no thread uses at the moment.
private final class ScratchPool: Sendable {
  private let free = Mutex<[MatchScratch]>([])

  func take() -> MatchScratch? { free.withLock { $0.popLast() } }

  func put(_ scratch: MatchScratch) { free.withLock { $0.append(scratch) } }
}

/// Collects the matches of a search.
///
/// A collector is a value type: the matches of a file go into a copy, which replaces the original after
/// the signature of the file is verified.
package protocol MatchCollector {
  /// Adds the result of one batch. Results arrive in the order of the batches for any number of threads.
  mutating func add(_ result: BatchResult)
}

/// Selects the keys whose beacons may still be received: their period plus the tolerance has not ended.
package struct UnexpiredKeyFilter: Sendable {
  private let rollingStarts: ClosedRange<Int64>
  private let firstEnd: Int64

  /// Selects the keys that are unexpired in the interval `now`.
  package init(at now: IntervalNumber) {
    let (time, tolerance) = (Int64(now.rawValue), Int64(Matcher.toleranceIntervals))
    // A key that begins later than tomorrow is invalid.
    rollingStarts = 0...(time + Int64(IntervalNumber.perDay))
    firstEnd = time - tolerance + 1
  }

  /// Returns the unexpired keys of `rows` in the same order.
  func keys(of rows: [KeyRow]) -> [DiagnosisKey] {
    var keys: [DiagnosisKey] = []
    for row in rows
    where Int64(row.lastInterval) + 1 >= firstEnd
      && rollingStarts.contains(Int64(row.rollingStart))
    {
      keys.append(row.diagnosisKey)
    }
    return keys
  }
}
