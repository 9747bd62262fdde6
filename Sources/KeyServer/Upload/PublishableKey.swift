import ExposureKeys
import Foundation
import UploadToken

/// A diagnosis key that may be published, with its regions and its release time.
struct PublishableKey: Hashable, Sendable {
  let key: DiagnosisKey
  /// The regions, sorted.
  let regions: [String]
  /// True if the user agreed to share the key with other countries.
  let travels: Bool
  /// The key is not published before: see `Embargo`.
  let releasedAt: Date

  /// The key with its release not before `moment`, so that it does not belong to a closed period.
  func released(from moment: Date) -> PublishableKey {
    guard releasedAt < moment else { return self }
    return PublishableKey(key: key, regions: regions, travels: travels, releasedAt: moment)
  }

  /// The 16 bytes of the key.
  var bytes: [UInt8] { key.key.secretBytes }

  /// The part of the key that a revision token holds.
  var revisable: RevisableKey { RevisableKey(key.key) }
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
