import ExposureKeys
import Foundation

/// The matches of one detection while its batches come in: each key once, revisions applied.
///
/// Documentation/RiskScoring.md 1.7 and 1.8. What the ledger holds is provisional as long as the
/// batches are: it is dropped with the detection when a file mutex out to be bad.
package struct MatchLedger: MatchKeeper, Sendable {
  private let requiresFullDayKeys: Bool
  private var matchOfKey: [[UInt8]: KeyMatch] = [:]
  /// The intervals of keys not found yet that were opened, and of which the rules left nothing.
  private var worthless: [[UInt8]: Set<IntervalNumber>] = [:]
  /// How many sightings were opened so far: for tests.
  private(set) var openedCount = 0
  /// Keys that were not heard and still may be.
  private var openKeys: [[UInt8]: DiagnosisKey] = [:]

  /// An empty ledger. If `requiresFullDayKeys` is true, it ignores keys used for less than a day.
  package init(requiresFullDayKeys: Bool = false) {
    self.requiresFullDayKeys = requiresFullDayKeys
  }

  /// Takes the findings of a batch; keys already found only change what is said of them, if they are
  /// revised ones.
  package mutating func add(_ findings: BatchFindings) {
    for match in findings.matches where isRegarded(match.key) {
      let bytes = match.key.key.secretBytes
      guard let known = matchOfKey[bytes]?.key else {
        take(match, bytes)
        continue
      }
      if Self.takes(match.key, over: known, findings.areRevised) {
        matchOfKey[bytes]?.key = match.key
      }
    }
    for key in findings.openKeys where isRegarded(key) {
      let bytes = key.key.secretBytes
      guard matchOfKey[bytes] == nil else { continue }
      let isTaken =
        openKeys[bytes].map { Self.takes(key, over: $0, findings.areRevised) }
        ?? (openKeys.count < DeviceLimit.retainedKeys)
      if isTaken { openKeys[bytes] = key }
    }
  }

  /// Opens what was heard of a key that was not found before, but nothing twice, for however many
  /// periods the key comes.
  private mutating func take(_ match: UnopenedMatch, _ bytes: [UInt8]) {
    let known = worthless[bytes] ?? []
    let new = match.intervals(beyond: known)
    guard !new.isEmpty else { return }
    let opened = match.opened(where: new.contains)
    openedCount += opened.sightings.count
    matchOfKey[bytes] = opened.credible
    worthless[bytes] = matchOfKey[bytes] == nil ? known.union(new) : nil
  }

  private func isRegarded(_ key: DiagnosisKey) -> Bool {
    key.reportType != .recursive
      && (!requiresFullDayKeys || key.key.rollingPeriod == IntervalNumber.perDay)
  }

  private static func takes(
    _ key: DiagnosisKey, over known: DiagnosisKey, _ areRevised: Bool
  ) -> Bool {
    areRevised && known.key == key.key && known.mayBecome(key)
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
