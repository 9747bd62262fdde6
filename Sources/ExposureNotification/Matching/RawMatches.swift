import ExposureKeys
import Secrets

/// The matches of a search with no rule but the clock tolerance, for tools that compare matchers.
/// Detections use `MatchLedger`.
package struct RawMatches: MatchCollector, Sendable, Redacted {
  private var intervalsOfKey: [[UInt8]: Set<IntervalNumber>] = [:]
  private var matches: [RawMatch] = []

  package init() {}

  /// Adds the result of a batch. A key that occurs again adds only intervals that did not match before.
  package mutating func add(_ result: BatchResult) {
    for match in result.matches {
      let bytes = match.key.key.secretBytes
      let known = intervalsOfKey[bytes] ?? []
      // Compares the few intervals before decrypting any sighting, because a forged file may contain the
      // same key for thousands of periods.
      let new = match.intervals(beyond: known)
      guard !new.isEmpty else { continue }
      intervalsOfKey[bytes] = known.union(new)
      matches += match.decrypted(where: new.contains).sightings.map {
        RawMatch(key: match.key.key, sighting: $0)
      }
    }
  }

  package var keyCount: Int { intervalsOfKey.count }
  package var identifierCount: Int { intervalsOfKey.values.reduce(0) { $0 + $1.count } }
  package var sightingCount: Int { matches.count }
  /// All matches, sorted by time, then key.
  package var inOrder: [RawMatch] { matches.sorted(by: RawMatch.inOrder) }
}

/// One sighting of a key, before any rule.
package struct RawMatch: Sendable, Redacted {
  package let key: TemporaryExposureKey
  package let sighting: MatchedSighting
}

extension RawMatch {
  /// Sorts by time, key, interval and signal strength, so that the result does not depend on the input's
  /// order.
  static func inOrder(_ left: RawMatch, _ right: RawMatch) -> Bool {
    if left.sighting.time != right.sighting.time { return left.sighting.time < right.sighting.time }
    let (one, other) = (left.key.secretBytes, right.key.secretBytes)
    if one != other { return one.lexicographicallyPrecedes(other) }
    return left.order < right.order
  }

  private var order: (UInt32, Int8) {
    (sighting.sentIn.rawValue, sighting.scanned.sighting.signalStrength)
  }
}
