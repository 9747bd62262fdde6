import ExposureKeys
import Foundation
import Secrets

/// The matches of one detection while its batches come in: each key once, revisions applied.
///
/// Documentation/RiskScoring.md 1.7 and 1.8. What the ledger holds is provisional as long as the
/// batches are: it is dropped with the detection when a file turns out to be bad.
package struct MatchLedger: MatchCollector, Sendable, Redacted {
  private let requiresFullDayKeys: Bool
  private var matchOfKey: [[UInt8]: KeyMatch] = [:]
  /// The intervals of keys not found yet that were opened, and of which the rules left nothing.
  private var discardedIntervals: [[UInt8]: Set<IntervalNumber>] = [:]
  /// How many sightings were opened so far: for tests.
  private(set) var decryptedSightingCount = 0
  /// Keys that were not heard and still may be.
  private var unexpiredKeys: [[UInt8]: DiagnosisKey] = [:]

  /// An empty ledger of a phone that follows `variant`.
  package init(requiresFullDayKeys: Bool = false) {
    self.requiresFullDayKeys = requiresFullDayKeys
  }

  /// Takes the result of a batch; keys already found only change what is said of them, if they are
  /// revised ones.
  package mutating func add(_ result: BatchResult) {
    for match in result.matches where isEligible(match.key) {
      let bytes = match.key.key.secretBytes
      guard let known = matchOfKey[bytes]?.key else {
        take(match, bytes)
        continue
      }
      if Self.takes(match.key, over: known, result.areRevised) {
        matchOfKey[bytes]?.key = match.key
      }
    }
    for key in result.unexpiredKeys where isEligible(key) {
      let bytes = key.key.secretBytes
      guard matchOfKey[bytes] == nil else { continue }
      let isTaken =
        unexpiredKeys[bytes].map { Self.takes(key, over: $0, result.areRevised) }
        ?? (unexpiredKeys.count < DeviceLimit.keptKeys)
      if isTaken { unexpiredKeys[bytes] = key }
    }
  }

  /// Opens what was heard of a key that was not found before, but nothing twice, for however many
  /// periods the key comes.
  private mutating func take(_ match: EncryptedMatch, _ bytes: [UInt8]) {
    let known = discardedIntervals[bytes] ?? []
    let new = match.intervals(beyond: known)
    guard !new.isEmpty else { return }
    let decrypted = match.decrypted(where: new.contains)
    decryptedSightingCount += decrypted.sightings.count
    matchOfKey[bytes] = decrypted.credible
    discardedIntervals[bytes] = matchOfKey[bytes] == nil ? known.union(new) : nil
  }

  private func isEligible(_ key: DiagnosisKey) -> Bool {
    key.reportType != .recursive
      && (!requiresFullDayKeys || key.key.rollingPeriod == IntervalNumber.perDay)
  }

  private static func takes(
    _ key: DiagnosisKey, over known: DiagnosisKey, _ areRevised: Bool
  ) -> Bool {
    areRevised && known.key == key.key && known.canBeRevised(to: key)
  }

  /// What a later detection must know of this one: the keys that matched, withdrawn ones too, and
  /// then those that may still be heard; the youngest first (Documentation/Framework.md 6.5).
  var keysToKeep: [DiagnosisKey] {
    [matchOfKey.values.map(\.key), Array(unexpiredKeys.values)].flatMap { keys in
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

extension DiagnosisKey {
  /// Whether a revision may put `revised` in the place of this key.
  ///
  /// A diagnosis becomes surer or is withdrawn, once; a laboratory's word stands. What did not say
  /// what it rests on may still come to say it (Documentation/RiskScoring.md 1.7).
  func canBeRevised(to revised: DiagnosisKey) -> Bool {
    switch reportType ?? .unknown {
    case .unknown: true
    case .selfReport:
      [.confirmedTest, .confirmedClinicalDiagnosis, .revoked].contains(revised.reportType)
    case .confirmedClinicalDiagnosis: [.confirmedTest, .revoked].contains(revised.reportType)
    case .confirmedTest, .recursive, .revoked: false
    }
  }
}
