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
