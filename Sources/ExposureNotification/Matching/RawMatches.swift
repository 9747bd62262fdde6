import ExposureKeys

/// What keys and sightings have in common, with no rule but the tolerance: for tools that compare
/// matchers. A phone's detection takes `MatchLedger` (Documentation/RiskScoring.md 1.10).
package struct RawMatches: MatchKeeper, Sendable {
  private var intervalsOfKey: [[UInt8]: Set<IntervalNumber>] = [:]
  private var found: [RawMatch] = []

  /// No matches yet.
  package init() {}

  /// Takes what a batch gave. A key that comes again, in another file or with another period, adds
  /// only what it did not explain before.
  package mutating func add(_ findings: BatchFindings) {
    for match in findings.matches {
      let bytes = match.key.key.secretBytes
      let known = intervalsOfKey[bytes] ?? []
      // By intervals, of which there are few, before any sighting is touched: the same key may come for
      // thousands of periods.
      let new = match.intervals(beyond: known)
      guard !new.isEmpty else { continue }
      intervalsOfKey[bytes] = known.union(new)
      found += match.opened(where: new.contains).sightings.map {
        RawMatch(key: match.key.key, sighting: $0)
      }
    }
  }

  /// How many different keys matched.
  package var keyCount: Int { intervalsOfKey.count }
  /// How many different identifiers matched.
  package var identifierCount: Int { intervalsOfKey.values.reduce(0) { $0 + $1.count } }
  /// How many sightings matched; two that say the same are two.
  package var sightingCount: Int { found.count }
  /// Every match, by time, then key.
  package var inOrder: [RawMatch] { found.sorted(by: RawMatch.inOrder) }
}

extension RawMatches: CustomStringConvertible, CustomReflectable {
  /// The kind only: it holds keys and meetings.
  package var description: String { "RawMatches" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
