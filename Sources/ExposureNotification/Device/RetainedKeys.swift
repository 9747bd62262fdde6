// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import Secrets
import TextEncodings
import World

/// The keys of earlier detections that later ones match again, in a sealed file. API version 2 only.
struct RetainedKeyStore: Sendable {
  let file: SealedFile

  /// Returns the keys of the retention period in their stored order; nil if there is no file.
  ///
  /// A key of a time ahead of the clock counts as passed in now, once the clock is trusted.
  /// - Throws: `.damaged` if the file cannot be decrypted, `.disk` if it cannot be read.
  func read(keeping period: RetentionPeriod, at now: Date) throws(SealedStorageError)
    -> [RetainedKey]?
  {
    guard var content = try file.read() else { return nil }
    defer { content.zero() }
    let stored = JSONDecoder().decodeIfValid([RetainedKeyRecord].self, from: content)
    guard let keys = stored?.map(\.key), !keys.contains(nil) else { throw .damaged }
    return keys.compactMap(\.self)
      .map { period.isCertain ? RetainedKey(key: $0.key, since: min($0.since, now)) : $0 }
      .filter { period.keeps(since: $0.since) }
  }

  /// Replaces the stored keys with the first `DeviceLimit.retainedKeys` of `keys`.
  func replace(with keys: [RetainedKey]) throws(SealedStorageError) {
    // Most devices have no key to store and need no file. One that cannot be read stays as it is.
    if keys.isEmpty, (try? file.read()) == nil { return }
    let stored = keys.prefix(DeviceLimit.retainedKeys).map(RetainedKeyRecord.init)
    guard var content = JSONEncoder().encodeIfPossible(stored) else { throw .damaged }
    defer { content.zero() }
    try file.replace(with: content)
  }

  func removeAll() throws(SealedStorageError) {
    try file.remove()
  }
}

/// A published key that later detections match again, the date when it was first passed in, and the digests of
/// the files that contain it.
///
/// Redacted, because it reveals whom the user met.
struct RetainedKey: Hashable, Sendable, Redacted {
  let key: DiagnosisKey
  let since: Date
  /// True if its report type has changed; it changes at most once.
  var hasChanged = false
  /// The digests of the files that contain it.
  var files: Set<Data> = []
}

extension [RetainedKey] {
  /// The keys to store after a detection that began with these: those of `ledger`, each with the date
  /// when it was first passed in and the digests of its files. While the clock is not trusted, all earlier
  /// keys as well, because sightings of their days may have been left out.
  func replaced(
    by ledger: MatchLedger, of digests: [Data?], keeping period: RetentionPeriod, at now: Date
  ) -> [RetainedKey] {
    let earlier = Dictionary(map { ($0.key.key, $0) }, uniquingKeysWith: { first, _ in first })
    let next = ledger.keysToKeep.map { key in
      let before = earlier[key.key]
      let files = ledger.files(of: key).compactMap { digests[$0] }
      return RetainedKey(
        key: key, since: before?.since ?? now, hasChanged: ledger.hasChanged(key),
        files: (before?.files ?? []).union(files))
    }
    guard !period.isCertain else { return next }
    let known = Set(next.map(\.key.key))
    return next + filter { !known.contains($0.key.key) }
  }

  /// The keys without `digests` among their files, and without those that were in no other file.
  func withdrawing(_ digests: Set<Data>) -> [RetainedKey] {
    compactMap { key in
      var key = key
      guard !key.files.isDisjoint(with: digests) else { return key }
      key.files.subtract(digests)
      return key.files.isEmpty ? nil : key
    }
  }
}

/// `RetainedKey` as stored in the sealed file `matches`.
struct RetainedKeyRecord: Codable, Redacted {
  let bytes: Data
  let start: UInt32
  let period: UInt32
  let risk: UInt8
  let report: Int32?
  let daysSinceOnset: Int32?
  let variant: UInt8?
  let since: Date
  let hasChanged: Bool
  let files: [Data]

  init(_ retained: RetainedKey) {
    bytes = Data(retained.key.key.secretBytes)
    start = retained.key.key.rollingStart.rawValue
    period = retained.key.key.rollingPeriod
    risk = retained.key.transmissionRiskLevel
    report = retained.key.reportType?.rawValue
    daysSinceOnset = retained.key.daysSinceOnsetOfSymptoms
    variant = retained.key.variantOfConcern?.rawValue
    since = retained.since
    hasChanged = retained.hasChanged
    files = retained.files.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The key, or nil if the stored values are not valid.
  var key: RetainedKey? {
    TemporaryExposureKey(
      bytes: bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period
    ).flatMap { key in
      DiagnosisKey(
        key: key, transmissionRiskLevel: risk, reportType: report.flatMap(ReportType.init),
        daysSinceOnsetOfSymptoms: daysSinceOnset,
        variantOfConcern: variant.flatMap(VariantOfConcern.init))
    }.map { RetainedKey(key: $0, since: since, hasChanged: hasChanged, files: Set(files)) }
  }
}
