import ExposureKeys
import Secrets

/// What keys and sightings have in common, with no rule but the tolerance: for tools that compare
/// matchers. A phone's detection takes `MatchLedger` (Documentation/RiskScoring.md 1.10).
package struct RawMatches: MatchCollector, Sendable, Redacted {
  private var intervalsOfKey: [[UInt8]: Set<IntervalNumber>] = [:]
  private var found: [RawMatch] = []

  /// No matches yet.
  package init() {}

  /// Takes what a batch gave. A key that comes again, in another file or with another period, adds
  /// only what it did not explain before.
  package mutating func add(_ result: BatchResult) {
    for match in result.matches {
      let bytes = match.key.key.secretBytes
      let known = intervalsOfKey[bytes] ?? []
      // By intervals, of which there are few, before any sighting is touched: the same key may come for
      // thousands of periods.
      let new = match.intervals(beyond: known)
      guard !new.isEmpty else { continue }
      intervalsOfKey[bytes] = known.union(new)
      found += match.decrypted(where: new.contains).sightings.map {
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

/// One sighting that a key explains, before any rule (Documentation/RiskScoring.md 1.10).
package struct RawMatch: Sendable, Redacted {
  /// The key that explains it.
  package let key: TemporaryExposureKey
  /// What was heard.
  package let sighting: MatchedSighting
}

extension RawMatch {
  /// By time, then key; at the same moment by interval and strength, so that nothing depends on the
  /// order of the input.
  static func inOrder(_ left: RawMatch, _ right: RawMatch) -> Bool {
    if left.sighting.time != right.sighting.time { return left.sighting.time < right.sighting.time }
    let (one, other) = (left.key.secretBytes, right.key.secretBytes)
    if one != other { return one.lexicographicallyPrecedes(other) }
    return left.place < right.place
  }

  private var place: (UInt32, Int8) {
    (sighting.sentIn.rawValue, sighting.scanned.sighting.signalStrength)
  }
}
