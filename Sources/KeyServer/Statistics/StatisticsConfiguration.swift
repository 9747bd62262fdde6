/// When a day of the statistics may be shown: both must hold. Documentation/KeyServer.md 10.3.
public struct StatisticsConfiguration: Hashable, Sendable {
  /// Uploads that a day has at least; not fewer than `KeyServerLimit.statisticsUploadsMin`.
  public var uploadsMin = KeyServerLimit.statisticsUploadsMin
  /// Seconds since the day's end, at least; within `KeyServerLimit.statisticsDelaySeconds`.
  public var delaySeconds = 48 * 3_600

  /// The defaults.
  public init() {}
}

extension StatisticsConfiguration {
  /// Refuses values by which one person's upload could be told.
  func checked() throws(KeyServerError) {
    guard uploadsMin >= KeyServerLimit.statisticsUploadsMin else {
      throw .configuration(
        "statistics.uploadsMin must be at least \(KeyServerLimit.statisticsUploadsMin).")
    }
    let delays = KeyServerLimit.statisticsDelaySeconds
    guard delays.contains(delaySeconds) else {
      throw .configuration(
        "statistics.delaySeconds must be \(delays.lowerBound) to \(delays.upperBound).")
    }
  }
}
