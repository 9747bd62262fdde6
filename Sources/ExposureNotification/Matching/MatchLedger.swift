import ExposureKeys
import Foundation

/// The matches of one detection while its batches come in: each key once, revisions applied.
///
/// Documentation/RiskScoring.md 1.7 and 1.8. What the ledger holds is provisional as long as the
/// batches are: it is dropped with the detection when a file turns out to be bad.
package struct MatchLedger: Sendable {
  private let matcher: Matcher
  private let now: IntervalNumber?
  private var matchOfKey: [[UInt8]: KeyMatch] = [:]
  /// Keys that were not heard and still may be.
  private var openKeys: [[UInt8]: DiagnosisKey] = [:]

  /// An empty ledger; with `now` it also remembers the keys whose time is not over.
  package init(_ matcher: Matcher, now: IntervalNumber? = nil) {
    self.matcher = matcher
    self.now = now
  }

  /// Searches for `keys`; those already found only change what is said of them, if `areRevised`.
  package mutating func search(_ keys: [DiagnosisKey], areRevised: Bool = false) {
    let keys = keys.filter { $0.reportType != .recursive }
    for match in matcher.matches(of: keys) {
      guard let match = match.credible else { continue }
      let bytes = match.key.key.secretBytes
      guard let known = matchOfKey[bytes]?.key else {
        matchOfKey[bytes] = match
        continue
      }
      if Self.takes(match.key, over: known, areRevised) { matchOfKey[bytes]?.key = match.key }
    }
    for key in keys where isOpen(key.key) && matchOfKey[key.key.secretBytes] == nil {
      let known = openKeys[key.key.secretBytes]
      let isTaken =
        known.map { Self.takes(key, over: $0, areRevised) }
        ?? (openKeys.count < DeviceLimit.keptKeys)
      if isTaken { openKeys[key.key.secretBytes] = key }
    }
  }

  private static func takes(
    _ key: DiagnosisKey, over known: DiagnosisKey, _ areRevised: Bool
  ) -> Bool {
    areRevised && known.key == key.key && known.mayBecome(key)
  }

  /// Whether an identifier of `key` may still be heard within the tolerance.
  private func isOpen(_ key: TemporaryExposureKey) -> Bool {
    guard let now else { return false }
    let (time, tolerance) = (Int64(now.rawValue), Int64(Matcher.toleranceIntervals))
    // A key that begins later than tomorrow is nobody's.
    return Int64(key.rollingEnd.rawValue) + tolerance > time
      && Int64(key.rollingStart.rawValue) <= time + Int64(IntervalNumber.perDay)
  }

  /// What a later detection must know of this one: the keys that matched, withdrawn ones too, and
  /// then those that may still be heard; the youngest first (Documentation/Framework.md 6.5).
  var keysToKeep: [DiagnosisKey] {
    [matchOfKey.values.map(\.key), Array(openKeys.values)].flatMap { keys in
      keys.sorted { $0.key.rollingStart > $1.key.rollingStart }
    }
  }

  /// All keys that matched and were not revoked, in the order of their days.
  package var matches: [KeyMatch] {
    matchOfKey.values.filter { $0.key.reportType != .revoked }.sorted {
      ($0.key.key.rollingStart, $0.sightings.first?.time ?? .distantPast)
        < ($1.key.key.rollingStart, $1.sightings.first?.time ?? .distantPast)
    }
  }
}

extension MatchLedger: CustomStringConvertible, CustomReflectable {
  /// The kind only: it holds keys and meetings.
  package var description: String { "MatchLedger" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
