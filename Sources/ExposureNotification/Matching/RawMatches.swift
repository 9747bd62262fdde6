import ExposureKeys

/// What keys and sightings have in common, with no rule but the tolerance: for tools that compare
/// matchers. A phone's detection takes `MatchLedger` (Documentation/RiskScoring.md 1.10).
package struct RawMatches: MatchKeeper, Sendable {
  private var intervalsOfKey: [[UInt8]: Set<IntervalNumber>] = [:]
  private var knownKeys: Set<TemporaryExposureKey> = []
  private var found: [RawMatch] = []

  /// No matches yet.
  package init() {}

  /// Takes what a batch gave. A key that comes again, in another file or with another period, adds
  /// only what it did not explain before.
  package mutating func add(_ findings: BatchFindings) {
    // The same key for the same period explains nothing new, however often it comes.
    for match in findings.matches where knownKeys.insert(match.key.key).inserted {
      let bytes = match.key.key.secretBytes
      let known = intervalsOfKey[bytes] ?? []
      let new = match.sightings.filter { !known.contains($0.sentIn) }
      intervalsOfKey[bytes] = known.union(new.map(\.sentIn))
      found += new.map { RawMatch(key: match.key.key, sighting: $0) }
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
