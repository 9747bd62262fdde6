import ExposureKeys
import Foundation
import UploadToken

/// A key with what the authority knows of it, and when it may be published.
struct PublishableKey: Hashable, Sendable {
  /// The key.
  let key: DiagnosisKey
  /// Where it counts, sorted.
  let regions: [String]
  /// Whether the person agreed to its going to other countries.
  let travels: Bool
  /// Not before then: `Embargo`.
  let releasedAt: Date
}

extension PublishableKey {
  /// The key with its release not before `moment`: no key enters a period that is closed.
  func released(from moment: Date) -> PublishableKey {
    guard releasedAt < moment else { return self }
    return PublishableKey(key: key, regions: regions, travels: travels, releasedAt: moment)
  }

  /// The 16 bytes.
  var bytes: [UInt8] { key.key.secretBytes }

  /// What a revision token says of it.
  var revisable: RevisableKey { RevisableKey(key.key) }
}

/// When a key may be published: not while anybody could still send out its identifiers.
///
/// Documentation/SeedContract.md 5.3: phones accept an identifier up to two hours beside its time.
enum Embargo {
  /// Ten-minute intervals from a key's end to its release.
  static let intervals: UInt32 = 12
  /// Moments are kept to the hour, in seconds, so that they tell nothing about one person's upload.
  static let coarseSeconds: TimeInterval = 3_600

  /// The release of `key` when it came in at `receivedAt`.
  static func release(of key: TemporaryExposureKey, receivedAt: Date) -> Date {
    let hours = (receivedAt.timeIntervalSince1970 / coarseSeconds).rounded(.down)
    let harmless = key.rollingEnd.date.addingTimeInterval(
      TimeInterval(intervals) * IntervalNumber.seconds)
    return max(Date(timeIntervalSince1970: hours * coarseSeconds), harmless)
  }
}

/// When symptoms began, as far as somebody says so and it can be true.
struct SymptomOnset: Sendable {
  /// The first interval of that day; nil where nothing is known.
  let day: IntervalNumber?
  /// Whether nobody said it.
  let isMissing: Bool

  /// The onset the token names; left out where it lies ahead or more than 28 days back.
  init(_ interval: UInt32?, at now: Date) {
    day = interval.flatMap { Self.day($0, at: now) }
    isMissing = day == nil
  }

  /// The first of `intervals` that can be true; where none can, `KeyServerLimit.onsetGuessSeconds` ago.
  init(firstOf intervals: [UInt32?], at now: Date) {
    let said = intervals.lazy.compactMap { $0 }.compactMap { Self.day($0, at: now) }.first
    let guess = IntervalNumber(now.addingTimeInterval(-KeyServerLimit.onsetGuessSeconds))
    day = said ?? guess?.startOfDay
    isMissing = said == nil
  }

  private static func day(_ interval: UInt32, at now: Date) -> IntervalNumber? {
    let oldest = IntervalNumber(now.addingTimeInterval(-KeyServerLimit.onsetAgeSecondsMax))
    let onset = IntervalNumber(rawValue: interval)
    guard let oldest, onset >= oldest.startOfDay, onset.date <= now else { return nil }
    return onset.startOfDay
  }

  /// Days from the onset to the key's day, negative before it; nil where nothing is known.
  func days(to key: TemporaryExposureKey) -> Int32? {
    guard let day else { return nil }
    let intervals = Int64(key.rollingStart.startOfDay.rawValue) - Int64(day.rawValue)
    return Int32(intervals / Int64(IntervalNumber.perDay))
  }
}

/// What a health authority found, as tokens and certificates name it. Documentation/KeyServer.md 7.4.
enum Finding: String, CaseIterable, Sendable {
  case confirmed
  case likely
  case negative
  case userReport = "user-report"

  /// What the key file says of it.
  var reportType: ReportType {
    switch self {
    case .confirmed: .confirmedTest
    case .likely: .confirmedClinicalDiagnosis
    case .negative: .revoked
    case .userReport: .selfReport
    }
  }

  /// The risk level of a key that was sent without one, or with 0.
  var transmissionRisk: UInt8 {
    switch self {
    case .confirmed: 2
    case .likely: 4
    case .negative: 6
    case .userReport: 0
    }
  }
}
