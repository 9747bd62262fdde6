// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Secrets
import World

/// An upload of either contract that passed all checks, except that its token may have been used.
struct AdmittedUpload: Redacted, Sendable {
  /// The token or certificate that it uses up.
  let token: UsedToken
  /// A digest that identifies repetitions of an upload, which may have other padding: see `UploadDigest`.
  let digest: Data
  let keys: [PublishableKey]
  let revision: RevisionPolicy
  /// The facts that the statistics count.
  let facts: UploadStatistics
  /// True if the token has expired; then only an earlier acceptance of the same upload counts.
  let isExpired: Bool
  /// The decision if none of the keys is stored, as for nearly every upload. It is computed here, concurrently,
  /// and not in the serialized transactions of the database.
  let decisionIfNew: Decision
  private let response: @Sendable (StoredUploadCounts) throws -> Data

  /// The changes to the database and the response; repetitions of the upload get the same response.
  struct Decision: Sendable {
    let plan: UploadPlan
    let response: Data
  }

  /// Creates an upload. `response` encodes the response for the outcome.
  ///
  /// - Throws: The error of `response`; then nothing may be stored.
  init(
    token: UsedToken, digest: Data, keys: [PublishableKey], revision: RevisionPolicy,
    facts: UploadStatistics, isExpired: Bool = false,
    response: @escaping @Sendable (StoredUploadCounts) throws -> Data
  ) throws {
    self.token = token
    self.digest = digest
    self.keys = keys
    self.revision = revision
    self.facts = facts
    self.isExpired = isExpired
    self.response = response
    let plan = try UploadPlan(for: keys, under: revision, known: [:])
    decisionIfNew = Decision(plan: plan, response: try response(plan.outcome))
  }

  /// The decision if keys with the bytes in `known` are stored, with these reports.
  ///
  /// - Throws: `RevisionRefusal` if the whole upload is rejected; the error of `response`.
  func decision(known: [Data: StoredReport]) throws -> Decision {
    let plan = try UploadPlan(for: keys, under: revision, known: known)
    return Decision(plan: plan, response: try response(plan.outcome))
  }

  /// The number of keys only: the digest of the token would link a log line to the stored upload.
  var description: String { "AdmittedUpload(\(keys.count) keys)" }
}

/// The keys of an upload, by their effect on the database.
struct UploadPlan: Sendable {
  private(set) var inserted: [PublishableKey] = []
  private(set) var revised: [PublishableKey] = []
  /// The keys that the next revision token covers: all that are stored and were not refused.
  private(set) var revisable: [TemporaryExposureKey] = []

  /// The plan for `keys`, given the reports of those that are stored, by their bytes.
  ///
  /// - Throws: `RevisionRefusal` if the whole upload is rejected.
  init(
    for keys: [PublishableKey], under policy: RevisionPolicy, known: [Data: StoredReport]
  ) throws(RevisionRefusal) {
    if known.isEmpty, keys.allSatisfy({ Self.isInserted($0, under: policy) }) {
      // The usual case: the array is shared instead of copied key by key.
      (inserted, revisable) = (keys, keys.map(\.key.key))
      return
    }
    for key in keys {
      let outcome = RevisionRule.outcome(
        of: key.key, known: known[Data(key.bytes)], under: policy)
      switch outcome {
      case .insert: inserted.append(key)
      case .revise: revised.append(key)
      case .leave: break
      case .drop: continue
      case .refuse(let refusal): throw refusal
      }
      revisable.append(key.key.key)
    }
  }

  private static func isInserted(_ key: PublishableKey, under policy: RevisionPolicy) -> Bool {
    RevisionRule.outcome(of: key.key, known: nil, under: policy) == .insert
  }

  var outcome: StoredUploadCounts {
    StoredUploadCounts(inserted: inserted.count, revised: revised.count, revisable: revisable)
  }
}

/// The effect of an upload, for the response and the statistics.
struct StoredUploadCounts: Redacted, Hashable, Sendable {
  /// The number of new keys.
  var inserted = 0
  /// The number of keys that were revised.
  var revised = 0
  /// The keys that the next revision token covers.
  var revisable: [TemporaryExposureKey] = []

  var description: String { "StoredUploadCounts(\(inserted) inserted, \(revised) revised)" }
}

/// Delays the release of a key until its identifiers cannot be replayed.
///
/// Phones accept an identifier up to two hours after its interval, so a key is released two hours after its end.
enum Embargo {
  /// Ten-minute intervals from a key's end to its release.
  static let intervals: UInt32 = 12

  /// The release of `key`, which was received at `receivedAt`.
  static func release(of key: TemporaryExposureKey, receivedAt: Date) -> Date {
    let replayEnd = key.rollingEnd.date.addingTimeInterval(
      TimeInterval(intervals) * IntervalNumber.seconds)
    return max(receivedAt.startOfHour, replayEnd)
  }
}

/// The day on which symptoms began.
struct SymptomOnset: Sendable {
  /// The first interval of that day; nil if it is unknown.
  let day: IntervalNumber?
  /// True if no valid onset was given.
  let isMissing: Bool

  /// The onset in a token. It is ignored if it is in the future or more than 28 days ago.
  init(_ interval: UInt32?, at now: Date) {
    day = interval.flatMap { Self.day($0, at: now) }
    isMissing = day == nil
  }

  /// The first valid onset of `intervals`; without one, `KeyServerLimit.onsetGuessSeconds` ago.
  init(firstOf intervals: [UInt32?], at now: Date) {
    let given = intervals.lazy.compactMap { $0 }.compactMap { Self.day($0, at: now) }.first
    let guess = IntervalNumber(now.addingTimeInterval(-KeyServerLimit.onsetGuessSeconds))
    day = given ?? guess?.startOfDay
    isMissing = given == nil
  }

  private static func day(_ interval: UInt32, at now: Date) -> IntervalNumber? {
    let oldest = IntervalNumber(now.addingTimeInterval(-KeyServerLimit.onsetAgeSecondsMax))
    let onset = IntervalNumber(rawValue: interval)
    guard let oldest, onset >= oldest.startOfDay, onset.date <= now else { return nil }
    return onset.startOfDay
  }

  /// Days from the onset to the key's day, negative before it; nil if the onset is unknown.
  func days(to key: TemporaryExposureKey) -> Int32? {
    guard let day else { return nil }
    let intervals = Int64(key.rollingStart.startOfDay.rawValue) - Int64(day.rawValue)
    return Int32(intervals / Int64(IntervalNumber.perDay))
  }
}

/// A report type as tokens and certificates name it.
enum CertifiedReportType: String, CaseIterable, Sendable {
  case confirmed
  case likely
  case negative
  case userReport = "user-report"

  /// The report type in the key file.
  var reportType: ReportType {
    switch self {
    case .confirmed: .confirmedTest
    case .likely: .confirmedClinicalDiagnosis
    case .negative: .revoked
    case .userReport: .selfReport
    }
  }

  /// The risk level of a key that is sent without one, or with 0.
  var transmissionRisk: UInt8 {
    switch self {
    case .confirmed: 2
    case .likely: 4
    case .negative: 6
    case .userReport: 0
    }
  }
}

/// The facts of one upload that the statistics count; nothing that identifies the user.
struct UploadStatistics: Hashable, Sendable {
  /// False for an upload of the canary.
  var isCounted = true
  let issuer: String
  let platform: UploadPlatform
  /// The hour of the upload, in Unix seconds.
  let hour: Int64
  /// Days since the oldest key's day; nil without keys.
  let oldestKeyDays: Int?
  /// Days since the onset of symptoms; nil if it is unknown.
  let onsetDays: Int?
  /// Whole minutes since the token or certificate was issued.
  let tokenMinutes: Int

  init(
    issuer: String, tokenIssuedAt: Date, platform: UploadPlatform, onset: SymptomOnset,
    keys: [PublishableKey], at now: Date
  ) {
    self.issuer = issuer
    self.platform = platform
    hour = now.startOfHour.unixSecond
    let today = IntervalNumber(now)?.startOfDay
    func days(since day: IntervalNumber) -> Int? {
      today.map { (Int($0.rawValue) - Int(day.rawValue)) / Int(IntervalNumber.perDay) }
    }
    oldestKeyDays = keys.map(\.key.key.rollingStart.startOfDay).min().flatMap(days)
    onsetDays = onset.isMissing ? nil : onset.day.flatMap(days)
    // A verified token has a time that fits into seconds.
    tokenMinutes = Int(max(0, now.timeIntervalSince(tokenIssuedAt)) / 60)
  }
}

/// The operating system that the request names. The statistics store the raw value.
enum UploadPlatform: Int, CaseIterable, Sendable {
  case unknown, android, ios

  /// Reads the header `User-Agent`. iOS can upload without the app, and then names its daemon.
  init(userAgent: String?) {
    let agent = Array((userAgent?.lowercased() ?? "").utf8)
    if agent.contains("android".utf8) {
      self = .android
    } else if agent.contains("iphone".utf8)
      || (agent.contains("bluetoothd".utf8) && agent.contains("cfnetwork".utf8))
    {
      self = .ios
    } else {
      self = .unknown
    }
  }

  /// Reads the field `platform` of the ProteGO Safe contract.
  init(name: String) {
    self = ["android": .android, "ios": .ios][name] ?? .unknown
  }
}

extension [UInt8] {
  fileprivate func contains(_ word: String.UTF8View) -> Bool {
    indices.contains { self[$0...].starts(with: word) }
  }
}

extension Date {
  /// The time rounded down to the hour. Times are stored in hours, so that they do not identify an upload.
  var startOfHour: Date { Self.hour(of: self, .down) }

  /// The time rounded up to the hour.
  var endOfHour: Date { Self.hour(of: self, .up) }

  private static func hour(of moment: Date, _ rule: FloatingPointRoundingRule) -> Date {
    Date(timeIntervalSince1970: (moment.timeIntervalSince1970 / 3_600).rounded(rule) * 3_600)
  }
}
