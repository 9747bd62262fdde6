import Foundation
import KeyServerAPI

/// Which counts may be shown at one moment, put together by day.
///
/// Documentation/KeyServer.md 10.3: a day of at least ten uploads, or one that ended 48 hours ago; never
/// the hour that is still running, which would tell of each upload as it comes.
struct StatisticsView: Sendable {
  /// Uploads of a day before it is shown early.
  static let uploadsMin = 10
  /// How long ago a day must have ended to be shown whatever it holds, in seconds.
  static let delaySeconds: Int64 = 48 * 3_600
  private static let daySeconds: Int64 = 86_400

  let now: Date

  /// The days that may be shown, oldest first.
  func days(of counts: [StatisticCount]) -> [StatisticsDay] {
    let running = StatisticTally.hour(of: now)
    let ended = counts.filter { $0.place.hour < running }
    let byDay = Dictionary(grouping: ended) { $0.place.hour / Self.daySeconds * Self.daySeconds }
    return byDay.sorted { $0.key < $1.key }.compactMap { start, counts in
      let day = Self.day(start, counts)
      let isOld = start + Self.daySeconds + Self.delaySeconds <= now.wholeSeconds
      return isOld || day.publishRequests.total >= Self.uploadsMin ? day : nil
    }
  }

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
