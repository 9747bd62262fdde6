import GRDB

/// One row of `statistic`. The hour is Unix seconds.
struct StatisticRow: Codable, FetchableRecord, Sendable {
  var hour: Int64
  var issuer: String
  var kind: String
  var bucket: Int
  var count: Int

  /// What the row says; nil where its kind is not one of ours.
  var statisticCount: StatisticCount? {
    StatisticKind(rawValue: kind).map {
      StatisticCount(
        place: .init(hour: hour, issuer: issuer, kind: $0, bucket: bucket), count: count)
    }
  }
}
