import ExposureKeys

/// A published key that was heard, and in which intervals of its period: nothing of it is opened yet.
///
/// Whoever publishes a key that was heard for thousands of periods makes thousands of these, but all of a
/// batch share what was heard, and a keeper opens only what it did not know (Documentation/Matching.md 7.3).
package struct UnopenedMatch: Sendable {
  /// The key, as it was published.
  package let key: DiagnosisKey
  /// What was heard of the key's bytes.
  let heard: HeardIntervals

  /// The intervals of its period that it was heard in, ascending; never none.
  package var intervals: [IntervalNumber] {
    heard.intervals(of: key.key).map { IntervalNumber(rawValue: $0.interval) }
  }

  /// Those of them that are not among `known`. The same key may come a million times: where it adds nothing, nothing is
  /// made to find that out.
  func intervals(beyond known: Set<IntervalNumber>) -> Set<IntervalNumber> {
    let own = heard.intervals(of: key.key)
    guard own.contains(where: { !known.contains(IntervalNumber(rawValue: $0.interval)) }) else {
      return []
    }
    return Set(own.map { IntervalNumber(rawValue: $0.interval) }).subtracting(known)
  }

  /// The match with all that was heard in the key's period.
  package var opened: KeyMatch { opened { _ in true } }

  /// The match with what was heard in those intervals of the key's period that `isWanted` names.
  func opened(where isWanted: (IntervalNumber) -> Bool) -> KeyMatch {
    let wanted = heard.intervals(of: key.key).filter {
      isWanted(IntervalNumber(rawValue: $0.interval))
    }
    return KeyMatch(key: key, sightings: heard.sightings(of: key.key, in: wanted))
  }
}

extension UnopenedMatch: CustomStringConvertible, CustomReflectable {
  /// The kind only: it holds a key and meetings.
  package var description: String { "UnopenedMatch" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
