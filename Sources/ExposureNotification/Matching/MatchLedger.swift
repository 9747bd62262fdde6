import ExposureKeys
import Foundation

/// The matches of one detection while its batches come in: each key once, revisions applied.
///
/// Documentation/RiskScoring.md 1.7 and 1.8. What the ledger holds is provisional as long as the
/// batches are: it is dropped with the detection when a file turns out to be bad.
package struct MatchLedger: Sendable {
  private let matcher: Matcher
  private var matchOfKey: [[UInt8]: KeyMatch] = [:]

  /// An empty ledger.
  package init(_ matcher: Matcher) {
    self.matcher = matcher
  }

  /// Searches for `keys`; those already found only change what is said of them, if `areRevised`.
  package mutating func search(_ keys: [DiagnosisKey], areRevised: Bool = false) {
    for match in matcher.matches(of: keys.filter { $0.reportType != .recursive }) {
      guard let match = match.credible else { continue }
      let bytes = match.key.key.secretBytes
      guard let known = matchOfKey[bytes]?.key else {
        matchOfKey[bytes] = match
        continue
      }
      guard areRevised, known.key == match.key.key, known.mayBecome(match.key) else { continue }
      matchOfKey[bytes]?.key = match.key
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
