// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Secrets

/// The matches of one detection: each key once, with revisions applied and implausible sightings removed.
///
/// The content is provisional until the files are verified. If a file is invalid, the ledger is discarded.
package struct MatchLedger: MatchCollector, Sendable, Redacted {
  private let requiresFullDayKeys: Bool
  private var matchOfKey: [[UInt8]: KeyMatch] = [:]
  /// For keys without a credible match: intervals whose sightings were decrypted and rejected.
  private var discardedIntervals: [[UInt8]: Set<IntervalNumber>] = [:]
  /// The number of decrypted sightings, which tests check.
  private(set) var decryptedSightingCount = 0
  /// Keys without a match that may still be received.
  private var unexpiredKeys: [[UInt8]: DiagnosisKey] = [:]
  /// Keys whose report type has changed, here or in an earlier detection.
  private var changedKeys: Set<[UInt8]>
  /// The index of the file that is read; nil for keys of earlier detections.
  var file: Int?
  private var filesOfKey: [[UInt8]: Set<Int>] = [:]

  /// Creates an empty ledger. If `requiresFullDayKeys` is true, it ignores keys used for less than a day.
  /// The report types of `changedKeys` do not change again.
  package init(requiresFullDayKeys: Bool = false, changedKeys: [DiagnosisKey] = []) {
    self.requiresFullDayKeys = requiresFullDayKeys
    self.changedKeys = Set(changedKeys.map(\.key.secretBytes))
  }

  /// Adds the result of a batch. A key that matched before changes only if the batch contains revisions.
  package mutating func add(_ result: BatchResult) {
    for match in result.matches where isEligible(match.key) {
      let bytes = match.key.key.secretBytes
      if let file { filesOfKey[bytes, default: []].insert(file) }
      guard let known = matchOfKey[bytes]?.key else {
        decryptAndAdd(match, bytes)
        continue
      }
      if revises(match.key, known, result.areRevised) {
        matchOfKey[bytes]?.key = match.key
      }
    }
    for key in result.unexpiredKeys where isEligible(key) {
      let bytes = key.key.secretBytes
      guard matchOfKey[bytes] == nil else { continue }
      let isAdded =
        unexpiredKeys[bytes].map { revises(key, $0, result.areRevised) }
        ?? (unexpiredKeys.count < DeviceLimit.retainedKeys)
      if isAdded { unexpiredKeys[bytes] = key }
      if let file, unexpiredKeys[bytes] != nil { filesOfKey[bytes, default: []].insert(file) }
    }
  }

  /// Decrypts the sightings of a key without a match so far. No sighting is decrypted twice, however many
  /// periods the key is published for.
  private mutating func decryptAndAdd(_ match: EncryptedMatch, _ bytes: [UInt8]) {
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

  /// Returns `true` if `key` replaces `known`, and records a change of the report type. It changes at most
  /// once.
  private mutating func revises(
    _ key: DiagnosisKey, _ known: DiagnosisKey, _ areRevised: Bool
  ) -> Bool {
    guard areRevised, known.key == key.key, known.canBeRevised(to: key) else { return false }
    guard known.statedReportType != key.statedReportType else { return true }
    return changedKeys.insert(key.key.secretBytes).inserted
  }

  /// True if the report type of `key` has changed, here or in an earlier detection.
  func hasChanged(_ key: DiagnosisKey) -> Bool {
    changedKeys.contains(key.key.secretBytes)
  }

  /// The indices of the files that contain `key`.
  func files(of key: DiagnosisKey) -> Set<Int> { filesOfKey[key.key.secretBytes] ?? [] }

  /// The keys that later detections need: those that matched, including revoked ones, then those that may
  /// still be received; newest first.
  var keysToKeep: [DiagnosisKey] {
    [matchOfKey.values.map(\.key), Array(unexpiredKeys.values)].flatMap { keys in
      keys.sorted { $0.key.rollingStart > $1.key.rollingStart }
    }
  }

  /// The matches of keys that are not revoked, sorted by day.
  package var matches: [KeyMatch] {
    matchOfKey.values.filter { $0.key.reportType != .revoked }.sorted {
      ($0.key.key.rollingStart, $0.sightings.first?.time ?? .distantPast)
        < ($1.key.key.rollingStart, $1.sightings.first?.time ?? .distantPast)
    }
  }
}

extension DiagnosisKey {
  /// The report type; `unknown` if there is none.
  fileprivate var statedReportType: ReportType { reportType ?? .unknown }

  /// True if a revision may replace this key by `revised`.
  ///
  /// A self report or clinical diagnosis can become more certain or be revoked. A confirmed test is final.
  /// A key without a report type can become anything.
  func canBeRevised(to revised: DiagnosisKey) -> Bool {
    switch statedReportType {
    case .unknown: true
    case .selfReport:
      [.confirmedTest, .confirmedClinicalDiagnosis, .revoked].contains(revised.reportType)
    case .confirmedClinicalDiagnosis: [.confirmedTest, .revoked].contains(revised.reportType)
    case .confirmedTest, .recursive, .revoked: false
    }
  }
}

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
