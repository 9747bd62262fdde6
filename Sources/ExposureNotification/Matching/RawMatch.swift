import ExposureKeys

/// One sighting that a key explains, before any rule (Documentation/RiskScoring.md 1.10).
package struct RawMatch: Sendable {
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

extension RawMatch: CustomStringConvertible, CustomReflectable {
  /// The kind only: it names a meeting.
  package var description: String { "RawMatch" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
