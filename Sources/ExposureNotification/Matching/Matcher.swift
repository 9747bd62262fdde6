import CExposureKernels
import DiagnosisKeyFile
import ExposureKeys

/// Finds what a phone heard of the people whose keys were published.
///
/// Documentation/Matching.md. Only facts: the rules on what to make of them are steps of their own
/// (`PlausibilityRule`, `ReplayRule`). Any number of threads may search with one matcher at once.
package struct Matcher: Sendable {
  /// How far the clocks of two phones may be apart, in intervals: two hours.
  package static let toleranceIntervals: UInt32 = 12

  let index: ContactIndex
  private let tier: MatchTier
  private let plans: DayPlans

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
    plans = DayPlans(index, tier: tier, direction: direction)
  }

  /// The intervals whose identifiers may be heard in `interval`.
  static func tolerance(around interval: IntervalNumber) -> ClosedRange<UInt32> {
    let number = interval.rawValue
    let (end, overflow) = number.addingReportingOverflow(toleranceIntervals)
    return (number - min(number, toleranceIntervals))...(overflow ? .max : end)
  }

  /// Memory for one thread to search with.
  func scratch() -> MatchScratch {
    MatchScratch(capacity: MatchLimit.keysPerBatch, groupCount: index.reach.groupCount)
  }

  /// The keys of `batch` that were heard within their declared period, with their sightings, in the
  /// order of the batch: a key that comes twice is found twice.
  package func findings(in batch: KeyBatch) -> BatchFindings {
    findings(in: batch, with: scratch())
  }

  func findings(in batch: KeyBatch, with scratch: MatchScratch) -> BatchFindings {
    var findings = BatchFindings()
    var hits = BatchHits(of: batch)
    findings.counters.keys = batch.count
    for start in stride(from: 0, to: batch.count, by: scratch.capacity) {
      let rows = batch.rows[start..<min(start + scratch.capacity, batch.count)]
      let runs = scratch.sort(rows, by: index.reach)
      findings.counters.keysSkipped += rows.count - (runs.last?.places.upperBound ?? 0)
      for run in runs {
        findings.counters.candidates += search(run, scratch, rowsFrom: start, &hits)
      }
    }
    findings.counters.hits = hits.count
    findings.matches = hits.matches(in: index)
    return findings
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
