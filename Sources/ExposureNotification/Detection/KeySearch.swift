import DiagnosisKeyFile
import Foundation

/// Brings the keys of files, or of memory, before a `Matcher`, on as many threads as it is told.
///
/// ```swift
/// let index = ContactIndex(sightings, secret: ProbeSecret(from: SystemRandomness()))
/// let matcher = Matcher(index, tier: .fastest)
/// var search = KeySearch(matcher, threads: 2)
/// var found = RawMatches()
/// let file = UnverifiedKeyFile(at: url)
/// let verified = try search.run(into: &found) { each in          // a zip, or x.bin beside x.sig
///   try file.verified(by: keys, batchSize: MatchLimit.keysPerBatch, each: each)
/// }
/// let counts = try search.run(into: &found) { each in            // keys only: no hash, no signature
///   try file.scannedKeys(batchSize: MatchLimit.keysPerBatch, each: each)
/// }
/// try search.run(into: &found) { each in                         // from memory
///   for batch in batches { try each(ProvisionalKeyBatch(keys: batch)) }
/// }
/// print(search.counters.hits, search.counters.keysSkipped, found.sightingCount)
/// ```
///
/// `batches` are `KeyBatch`es made of `DiagnosisKey`s ahead of time. Nothing is found of a source that
/// throws: what it gave is forgotten with it.
package struct KeySearch {
  private let matcher: Matcher
  private let threads: Int
  private let openKeys: OpenKeys?
  private let progress: Progress?
  /// The work of all sources that ended well.
  package private(set) var counters = MatchCounters()

  /// A search on `threads` threads (`MatchLimit.threads`, brought inside), the caller's included.
  ///
  /// With `openKeys` the findings also name the keys that may still be heard. Where `progress` is
  /// cancelled the search throws `CancellationError` before the next batch.
  package init(
    _ matcher: Matcher, threads: Int = 1, openKeys: OpenKeys? = nil, progress: Progress? = nil
  ) {
    self.matcher = matcher
    self.threads = threads
    self.openKeys = openKeys
    self.progress = progress
  }

  /// Searches for all keys that `read` hands to the function it is given, and adds what it finds to
  /// `found`, in the order of the keys, once `read` has returned.
  ///
  /// `read` returns when its keys may be believed, and throws where they may not: then this throws the
  /// same, and `found` and `counters` are as they were.
  package mutating func run<Keeper: MatchKeeper, Result>(
    into found: inout Keeper,
    _ read: ((ProvisionalKeyBatch) throws -> Void) throws -> Result
  ) throws -> Result {
    let crew = MatchCrew(matcher, threads: threads, openKeys: openKeys)
    var provisional = (found: found, counters: counters)
    func take() {
      for findings in crew.takeFindings() {
        provisional.counters += findings.counters
        provisional.found.add(findings)
      }
    }
    do {
      let result = try read { batch in
        try checkIsWanted()
        crew.add(batch)
        take()
      }
      crew.finish()
      take()
      (found, counters) = provisional
      return result
    } catch {
      crew.abandon()
      throw error
    }
  }

  private func checkIsWanted() throws {
    guard progress?.isCancelled != true else { throw CancellationError() }
  }
}
