import ExposureKeys
import Foundation

/// A published key and what was heard of its owner, in the order of time.
package struct KeyMatch: Hashable, Sendable {
  /// The key.
  package var key: DiagnosisKey
  /// What was heard, earliest first.
  package private(set) var sightings: [MatchedSighting]

  /// A match with these sightings, in any order.
  package init(key: DiagnosisKey, sightings: [MatchedSighting]) {
    self.key = key
    self.sightings = sightings.sorted(by: MatchedSighting.inOrderOfTime)
  }

  /// What is left of the match after both rules; nil where nothing is.
  package var credible: KeyMatch? {
    let sightings = ReplayRule.kept(of: sightings.filter(PlausibilityRule.isKept))
    return sightings.isEmpty ? nil : KeyMatch(key: key, sightings: sightings)
  }

  /// Whole days from the start of the key to `now`.
  func age(at now: Date) -> Int {
    let days = now.timeIntervalSince(key.key.rollingStart.date) / Day.seconds
    return Int(min(max(days.rounded(.down), 0), Double(Int32.max)))
  }
}
