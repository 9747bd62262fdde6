import CExposureKernels
import Synchronization

/// How the keys of one group are searched for (Documentation/Matching.md 3).
enum SearchPlan: Sendable {
  /// Derive their identifiers and ask the filter.
  case forward(ProbeFilter)
  /// Decrypt these identifiers with each of them.
  case reverse([(UInt64, UInt64)])

  /// The plan for keys that meet `identifiers`.
  init(
    for identifiers: [(UInt64, UInt64)], secret: ProbeSecret, tier: MatchTier,
    direction: MatchDirection
  ) {
    let isReverse =
      switch direction {
      case .automatic: identifiers.count <= tier.reverseBreakEven
      case .forward: false
      case .reverse: true
      }
    self = isReverse ? .reverse(identifiers) : .forward(ProbeFilter(identifiers, secret: secret))
  }
}

extension SearchPlan {
  /// Searches for keys of `scratch` from place `start` on, `count` at most; candidates go into
  /// `scratch.candidates`, numbered from `start`. Returns how many there are; `keysDone` is for how many
  /// keys that is all.
  func candidates(
    in scratch: MatchScratch, from start: Int, count: Int, _ tier: MatchTier,
    keysDone: inout Int
  ) -> Int {
    let keys = UnsafeRawPointer(scratch.keys + start).assumingMemoryBound(to: UInt8.self)
    let (first, length) = (scratch.first + start, scratch.length + start)
    switch self {
    case .forward(let probe):
      // The filter's words live as long as `probe`.
      return withExtendedLifetime(probe) {
        var filter = probe.filter
        return ek_match_forward(
          tier.kernels, keys, first, length, count, &filter, scratch.candidates,
          MatchLimit.candidates, &keysDone)
      }
    case .reverse(let identifiers):
      return identifiers.withUnsafeBytes { heard in
        ek_match_reverse(
          tier.kernels, keys, first, length, count,
          heard.baseAddress?.assumingMemoryBound(to: UInt8.self), identifiers.count,
          scratch.candidates, MatchLimit.candidates, &keysDone)
      }
    }
  }
}

extension ek_candidate {
  /// The identifier in two words, as memory holds it.
  var words: (UInt64, UInt64) {
    withUnsafeBytes(of: identifier) { bytes in
      (
        bytes.loadUnaligned(as: UInt64.self),
        bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      )
    }
  }
}

/// The plans of all groups of keys, each made when the first key of its group comes.
final class SearchPlanCache: Sendable {
  private let index: ContactIndex
  private let tier: MatchTier
  private let direction: MatchDirection
  private let known = Mutex<[Int: SearchPlan]>([:])

  init(_ index: ContactIndex, tier: MatchTier, direction: MatchDirection) {
    self.index = index
    self.tier = tier
    self.direction = direction
  }

  /// The plan of `group`. Threads that ask at the same time wait for one of them to make it.
  func plan(of group: Int) -> SearchPlan {
    known.withLock { known in
      if let plan = known[group] { return plan }
      let plan = SearchPlan(
        for: index.identifiers(near: index.reach.intervals(of: group)), secret: index.secret,
        tier: tier, direction: direction)
      known[group] = plan
      return plan
    }
  }
}
