import Foundation
import KeyServerAPI

/// One number of the statistics.
struct StatisticCount: Hashable, Sendable {
  /// What is counted.
  struct Place: Hashable, Sendable {
    /// Unix seconds of the hour.
    let hour: Int64
    let issuer: String
    let kind: StatisticKind
    let bucket: Int
  }

  let place: Place
  let count: Int
}

/// What is counted of uploads. Documentation/KeyServer.md 10.
enum StatisticKind: String, CaseIterable, Sendable {
  /// Uploads, a bucket for each `StatisticPlatform`.
  case uploads
  /// Keys that are in.
  case keys
  /// Uploads that revised a key.
  case revisions
  /// Uploads by the age of their oldest key, in days.
  case oldestKey
  /// Uploads by the days since the onset of symptoms.
  case onset
  /// Uploads that nobody knew an onset of.
  case missingOnset
}

/// What uploads add to the statistics, before it is written down with them.
struct StatisticTally: Sendable {
  /// Days that ages of keys are counted by.
  static let oldestKeyDays = 0...15
  /// Days that onsets are counted by.
  static let onsetDays = 0...29

  private var sums: [StatisticCount.Place: Int] = [:]

  /// Counts one upload that was taken.
  mutating func add(_ facts: UploadFacts, _ outcome: UploadOutcome) {
    func count(_ kind: StatisticKind, _ bucket: Int = 0, _ number: Int = 1) {
      guard number > 0 else { return }
      sums[
        StatisticCount.Place(hour: facts.hour, issuer: facts.issuer, kind: kind, bucket: bucket),
        default: 0] += number
    }
    count(.uploads, facts.platform.rawValue)
    count(.keys, 0, outcome.inserted)
    if outcome.revised > 0 { count(.revisions) }
    if let days = facts.oldestKeyDays { count(.oldestKey, Self.clamp(days, Self.oldestKeyDays)) }
    if let days = facts.onsetDays {
      count(.onset, Self.clamp(days, Self.onsetDays))
    } else {
      count(.missingOnset)
    }
  }

  /// The sums, in an order that is always the same.
  var counts: [StatisticCount] {
    sums.map { StatisticCount(place: $0.key, count: $0.value) }.sorted {
      ($0.place.kind.rawValue, $0.place.bucket) < ($1.place.kind.rawValue, $1.place.bucket)
    }
  }

  /// Unix seconds of the hour that `moment` lies in.
  static func hour(of moment: Date) -> Int64 {
    let hours = (moment.timeIntervalSince1970 / Embargo.coarseSeconds).rounded(.down)
    return Int64(hours * Embargo.coarseSeconds)
  }

  private static func clamp(_ days: Int, _ range: ClosedRange<Int>) -> Int {
    min(max(days, range.lowerBound), range.upperBound)
  }
}

/// Which counts may be shown at one moment, put together by day.
///
/// Documentation/KeyServer.md 10.3, decision 14: a day of enough uploads that ended long enough ago. Such a
/// day is shown whole or not at all, so that no two answers differ by one upload.
struct StatisticsView: Sendable {
  private static let daySeconds: Int64 = 86_400

  let now: Date
  let configuration: StatisticsConfiguration

  /// The first day that is counted at all at `now`, in Unix seconds.
  static func firstDay(at now: Date) -> Int64 {
    day(of: now.wholeSeconds) - Int64(KeyServerLimit.statisticsSeconds)
  }

  /// The days that may be shown, oldest first.
  func days(of counts: [StatisticCount]) -> [StatisticsDay] {
    let first = Self.firstDay(at: now)
    return Dictionary(grouping: counts) { Self.day(of: $0.place.hour) }
      .filter { $0.key >= first && hasWaited($0.key) }
      .sorted { $0.key < $1.key }
      .map { Self.day($0.key, $0.value) }
      .filter { $0.publishRequests.total >= configuration.uploadsMin }
  }

  /// Whether the day that began at `start` ended long enough ago.
  private func hasWaited(_ start: Int64) -> Bool {
    start + Self.daySeconds + Int64(configuration.delaySeconds) <= now.wholeSeconds
  }

  /// The beginning of the day of `seconds`, both in Unix seconds.
  private static func day(of seconds: Int64) -> Int64 { seconds / daySeconds * daySeconds }

  private static func day(_ start: Int64, _ counts: [StatisticCount]) -> StatisticsDay {
    let date = Date(timeIntervalSince1970: TimeInterval(start))
    var day = StatisticsDay(day: date.formatted(.iso8601))
    for count in counts {
      let (bucket, number) = (count.place.bucket, count.count)
      switch count.place.kind {
      case .uploads: add(number, from: StatisticPlatform(rawValue: bucket), to: &day)
      case .keys: day.totalTEKsPublished += number
      case .revisions: day.requestsWithRevisions += number
      case .missingOnset: day.requestsMissingOnsetDate += number
      case .oldestKey where day.tekAgeDistribution.indices.contains(bucket):
        day.tekAgeDistribution[bucket] += number
      case .onset where day.onsetToUploadDistribution.indices.contains(bucket):
        day.onsetToUploadDistribution[bucket] += number
      case .oldestKey, .onset: break
      }
    }
    return day
  }

  private static func add(
    _ number: Int, from platform: StatisticPlatform?, to day: inout StatisticsDay
  ) {
    switch platform {
    case .android: day.publishRequests.android += number
    case .ios: day.publishRequests.ios += number
    case .unknown, nil: day.publishRequests.unknown += number
    }
  }
}
