/// How much work a search was.
package struct MatchCounters: Hashable, Sendable {
  /// Usable keys that were searched for.
  package var keys = 0
  /// Those of them that were not even derived, as nothing was heard in their time.
  package var keysSkipped = 0
  /// Identifiers that passed the filter, or looked right decrypted, and were compared exactly.
  package var candidates = 0
  /// Pairs of key and interval that explain something heard.
  package var hits = 0

  /// No work yet.
  package init() {}

  /// The work of both.
  static func += (left: inout MatchCounters, right: MatchCounters) {
    left.keys += right.keys
    left.keysSkipped += right.keysSkipped
    left.candidates += right.candidates
    left.hits += right.hits
  }
}
