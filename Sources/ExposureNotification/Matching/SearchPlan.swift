// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import Secrets
import Synchronization

/// The search method for the keys of one group.
enum SearchPlan: Sendable {
  /// Derives the keys' identifiers and probes the filter.
  case forward(ProbeFilter)
  /// Decrypts these identifiers with each key.
  case reverse([(UInt64, UInt64)])

  init(
    for identifiers: [(UInt64, UInt64)], secret: ProbeSecret, tier: MatchTier,
    direction: MatchDirection, filterWordsLog2: Int?
  ) {
    let isReverse =
      switch direction {
      case .automatic: identifiers.count <= tier.reverseBreakEven
      case .forward: false
      case .reverse: true
      }
    self =
      isReverse
      ? .reverse(identifiers)
      : .forward(ProbeFilter(identifiers, secret: secret, wordsLog2: filterWordsLog2))
  }
}

extension SearchPlan {
  /// Searches at most `count` keys of `scratch` from index `start`, and writes the candidates into
  /// `scratch.candidates`, numbered from `start`.
  ///
  /// Returns the number of candidates. `keysDone` is set to the number of keys that were fully searched.
  func candidates(
    in scratch: MatchScratch, from start: Int, count: Int, _ tier: MatchTier,
    keysDone: inout Int
  ) -> Int {
    let keys = UnsafeRawPointer(scratch.keys + start).assumingMemoryBound(to: UInt8.self)
    let (first, length) = (scratch.first + start, scratch.length + start)
    switch self {
    case .forward(let probe):
      // The filter's memory lives as long as `probe`.
      return withExtendedLifetime(probe) {
        var filter = probe.filter
        return ek_match_forward(
          tier.kernels, keys, first, length, count, &filter, scratch.candidates,
          MatchLimit.candidates, &keysDone)
      }
    case .reverse(let identifiers):
      return identifiers.withUnsafeBytes { bytes in
        ek_match_reverse(
          tier.kernels, keys, first, length, count,
          bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), identifiers.count,
          scratch.candidates, MatchLimit.candidates, &keysDone)
      }
    }
  }
}

extension ek_candidate {
  /// The identifier as two words in memory order.
  var words: (UInt64, UInt64) {
    withUnsafeBytes(of: identifier) { bytes in
      (
        bytes.loadUnaligned(as: UInt64.self),
        bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      )
    }
  }
}

/// The plans of all groups, each created on first use.
final class SearchPlanCache: Sendable {
  private let index: ContactIndex
  private let tier: MatchTier
  private let direction: MatchDirection
  private let filterWordsLog2: Int?
  private let plans = Mutex<[Int: SearchPlan]>([:])

  init(
    _ index: ContactIndex, tier: MatchTier, direction: MatchDirection, filterWordsLog2: Int?
  ) {
    self.index = index
    self.tier = tier
    self.direction = direction
    self.filterWordsLog2 = filterWordsLog2
  }

  /// Returns the plan of `group`. Concurrent callers wait until one of them has created it.
  func plan(of group: Int) -> SearchPlan {
    plans.withLock { plans in
      if let plan = plans[group] { return plan }
      let plan = SearchPlan(
        for: index.identifiers(near: index.searchIntervals.intervals(of: group)),
        secret: index.secret, tier: tier, direction: direction, filterWordsLog2: filterWordsLog2)
      plans[group] = plan
      return plan
    }
  }
}

/// A blocked Bloom filter over the identifiers of one day. One to three in a thousand other identifiers
/// pass, and are then compared exactly.
///
/// Unchecked because of its pointer: the memory is written in `init` and only read afterwards.
package final class ProbeFilter: @unchecked Sendable {
  /// The filter for the C kernels; its memory lives as long as this object.
  package let filter: ek_filter

  package init(
    _ identifiers: [(UInt64, UInt64)], secret: ProbeSecret, wordsLog2: Int? = nil
  ) {
    let log2 = wordsLog2 ?? Self.wordsLog2(for: identifiers.count)
    let words = UnsafeMutablePointer<UInt32>(
      OpaquePointer(UnsafeMutableRawPointer.allocate(byteCount: 4 << log2, alignment: 64)))
    words.initialize(repeating: 0, count: 1 << log2)
    var filter = ek_filter(
      words: words, word_count_log2: UInt32(log2), secret: (secret.filter.0, secret.filter.1))
    identifiers.withUnsafeBytes { bytes in
      guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
      for index in identifiers.indices { ek_filter_add(&filter, start + 16 * index) }
    }
    self.filter = filter
  }

  deinit {
    filter.words.deallocate()
  }

  /// The size of a filter for `count` identifiers in words, as a power of two.
  package static func wordsLog2(for count: Int) -> Int {
    let words = max(count * MatchLimit.filterWordsPerIdentifier - 1, 1)
    let log2 = Int.bitWidth - words.leadingZeroBitCount
    let limits = MatchLimit.filterWordsLog2
    return min(max(log2, limits.lowerBound), limits.upperBound)
  }
}
