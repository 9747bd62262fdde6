import Foundation
import KeyServerAPI

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
