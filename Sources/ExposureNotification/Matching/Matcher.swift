// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import DiagnosisKeyFile
import ExposureKeys
import Secrets

/// Finds the sightings of published keys.
///
/// It applies no rule but the clock tolerance; `KeyMatch.credible` and `MatchLedger` apply the others.
/// Any number of threads may search with one matcher at the same time.
package struct Matcher: Sendable {
  /// The assumed clock difference of two devices, in intervals: two hours.
  package static let toleranceIntervals: UInt32 = 12

  let index: ContactIndex
  private let tier: MatchTier
  private let plans: SearchPlanCache

  /// Creates a matcher; `filterWordsLog2` overrides the size of a day's filter, for measurements.
  ///
  /// - Precondition: `tier` is available on this processor.
  package init(
    _ index: ContactIndex, tier: MatchTier = .fastest, direction: MatchDirection = .automatic,
    filterWordsLog2: Int? = nil
  ) {
    precondition(tier.isAvailable, "this processor lacks \(tier.rawValue)")
    self.index = index
    self.tier = tier
    plans = SearchPlanCache(
      index, tier: tier, direction: direction, filterWordsLog2: filterWordsLog2)
  }

  /// The intervals whose identifiers may be received in `interval`.
  static func tolerance(around interval: IntervalNumber) -> ClosedRange<UInt32> {
    let number = interval.rawValue
    let (end, overflow) = number.addingReportingOverflow(toleranceIntervals)
    return (number - min(number, toleranceIntervals))...(overflow ? .max : end)
  }

  /// The number of keys of a batch with which a search is fast.
  package var keysPerBatch: Int { MatchLimit.keysPerBatch(against: index.sightingCount) }

  /// Buffers for one searching thread.
  func makeScratch() -> MatchScratch {
    MatchScratch(capacity: keysPerBatch, groupCount: index.searchIntervals.groupCount)
  }

  /// Returns the keys of `batch` that were received within their declared period, in the order of the
  /// batch. A key that occurs twice is returned twice.
  package func search(_ batch: KeyBatch) -> BatchResult {
    search(batch, with: makeScratch())
  }

  func search(_ batch: KeyBatch, with scratch: MatchScratch) -> BatchResult {
    var result = BatchResult()
    var hits = BatchHits(of: batch)
    result.counters.keys = batch.count
    for start in stride(from: 0, to: batch.count, by: scratch.capacity) {
      let rows = batch.rows[start..<min(start + scratch.capacity, batch.count)]
      let runs = scratch.sort(rows, by: index.searchIntervals)
      result.counters.keysSkipped += rows.count - (runs.last?.indices.upperBound ?? 0)
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
  /// Searches the keys of one run and adds verified hits to `hits`. `firstRow` is the row of the batch
  /// at which the scratch begins. Returns the number of candidates.
  private func search(
    _ run: MatchScratch.Run, _ scratch: MatchScratch, rowsFrom firstRow: Int,
    _ hits: inout BatchHits
  ) -> Int {
    let plan = plans.plan(of: run.group)
    var (start, count) = (run.indices.lowerBound, 0)
    while start < run.indices.upperBound {
      var keysDone = 0
      let found = plan.candidates(
        in: scratch, from: start, count: run.indices.upperBound - start, tier, keysDone: &keysDone)
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

/// The result of searching one batch.
package struct BatchResult: Sendable, Redacted {
  package var matches: [EncryptedMatch] = []
  /// Keys that may still be received, in the order of the batch; empty unless requested.
  package var unexpiredKeys: [DiagnosisKey] = []
  /// True if these keys replace earlier publications of the same keys.
  package var areRevised = false
  package var counters = MatchCounters()
}

/// Statistics of a search.
package struct MatchCounters: Hashable, Sendable {
  package var keys = 0
  /// Keys that were skipped without derivation, because nothing was received in their period.
  package var keysSkipped = 0
  /// Identifiers that passed the filter or decrypted to the expected padding, and were compared exactly.
  package var candidates = 0
  /// Pairs of a key and an interval with at least one sighting.
  package var hits = 0

  package init() {}

  static func += (left: inout MatchCounters, right: MatchCounters) {
    left.keys += right.keys
    left.keysSkipped += right.keysSkipped
    left.candidates += right.candidates
    left.hits += right.hits
  }
}

/// The processor instructions that the matcher's inner loops use. All tiers find the same matches.
package enum MatchTier: String, CaseIterable, Sendable {
  /// Plain C, on any processor.
  case portable
  /// x86-64 with AES-NI and SHA-NI.
  case aesniShani = "aesni-shani"
  /// x86-64 with 256-bit VAES and SHA-NI.
  case vaes256
  /// x86-64 with AVX-512 and VAES.
  case vaes512
  /// 64-bit ARM with its AES and SHA-256 instructions.
  case arm64

  package static var fastest: MatchTier {
    allCases.first { $0.kernels == ek_fastest_tier() } ?? .portable
  }

  package static var available: [MatchTier] { allCases.filter(\.isAvailable) }

  package var isAvailable: Bool { ek_tier_is_available(kernels) }

  /// The number of identifiers per day at which both directions are equally fast.
  var reverseBreakEven: Int { ek_reverse_break_even(kernels) }

  /// The value for the C kernels.
  package var kernels: ek_tier {
    switch self {
    case .portable: EK_TIER_PORTABLE
    case .aesniShani: EK_TIER_AESNI_SHANI
    case .vaes256: EK_TIER_VAES256
    case .vaes512: EK_TIER_VAES512
    case .arm64: EK_TIER_ARM64
    }
  }
}

/// The direction of the comparison. All directions find the same matches.
package enum MatchDirection: Sendable, CaseIterable {
  /// Chooses the faster direction for each day.
  case automatic
  /// Derives the key's identifiers and looks them up in the filter.
  case forward
  /// Decrypts every received identifier with the key and checks the padding.
  case reverse
}
