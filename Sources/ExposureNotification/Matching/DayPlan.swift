/// How the keys of one group are searched for (Documentation/Matching.md 3).
enum DayPlan: Sendable {
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
