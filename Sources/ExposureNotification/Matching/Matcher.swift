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
    var hits: [Hit] = []
    findings.counters.keys = batch.count
    for start in stride(from: 0, to: batch.count, by: scratch.capacity) {
      let rows = batch.rows[start..<min(start + scratch.capacity, batch.count)]
      let runs = scratch.sort(rows, by: index.reach)
      findings.counters.keysSkipped += rows.count - (runs.last?.places.upperBound ?? 0)
      for run in runs {
        findings.counters.candidates += search(run, scratch) { hits.append($0.offset(by: start)) }
      }
    }
    findings.counters.hits = hits.count
    findings.matches = matches(hits.sorted(), in: batch)
    return findings
  }
}

extension Matcher {
  /// A key and an interval whose identifier was heard in time.
  private struct Hit: Comparable {
    let row: Int
    let interval: UInt32
    let identifier: Int

    func offset(by rows: Int) -> Hit {
      Hit(row: row + rows, interval: interval, identifier: identifier)
    }

    static func < (left: Hit, right: Hit) -> Bool {
      (left.row, left.interval) < (right.row, right.interval)
    }
  }

  /// Searches for the keys of one run; `each` gets what is certain. Returns how many candidates there
  /// were.
  private func search(_ run: MatchScratch.Run, _ scratch: MatchScratch, each: (Hit) -> Void) -> Int
  {
    let plan = plans.plan(of: run.group)
    var (start, count) = (run.places.lowerBound, 0)
    while start < run.places.upperBound {
      var keysDone = 0
      let found = plan.candidates(
        in: scratch, from: start, count: run.places.upperBound - start, tier, keysDone: &keysDone)
      for candidate in UnsafeBufferPointer(start: scratch.candidates, count: found) {
        let words = candidate.words
        if let number = index.number(of: words, near: candidate.interval) {
          let row = scratch.row[start + Int(candidate.key_index)]
          each(Hit(row: Int(row), interval: candidate.interval, identifier: number))
        }
      }
      precondition(keysDone > 0, "the kernels always finish a key")
      start += keysDone
      count += found
    }
    return count
  }

  /// The matches that `hits`, in order, come to.
  private func matches(_ hits: [Hit], in batch: KeyBatch) -> [KeyMatch] {
    var matches: [KeyMatch] = []
    var placeOfKey: [TemporaryExposureKey: Int] = [:]
    var rest = hits[...]
    while let row = rest.first?.row {
      let ofKey = rest.prefix { $0.row == row }
      rest = rest.dropFirst(ofKey.count)
      let key = batch[row]
      if let place = placeOfKey[key.key] {
        // Shares the sightings: a key that comes again and again is not to fill the memory.
        var again = matches[place]
        again.key = key
        matches.append(again)
      } else {
        placeOfKey[key.key] = matches.count
        matches.append(match(key, Array(ofKey)))
      }
    }
    return matches
  }

  private func match(_ key: DiagnosisKey, _ hits: [Hit]) -> KeyMatch {
    let schedule = KeySchedule(key.key)
    var sightings: [MatchedSighting] = []
    for hit in hits {
      index.forEachSighting(of: hit.identifier, near: hit.interval) { scanned in
        let advertisement = scanned.sighting.advertisement
        sightings.append(
          MatchedSighting(
            scanned, sentIn: IntervalNumber(rawValue: hit.interval),
            metadata: schedule.open(advertisement.metadata, beside: advertisement.identifier)))
      }
    }
    return KeyMatch(key: key, sightings: sightings)
  }
}
