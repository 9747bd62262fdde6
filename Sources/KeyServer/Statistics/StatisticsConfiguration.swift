/// The two conditions under which a day of the statistics is shown.
public struct StatisticsConfiguration: Hashable, Sendable {
  /// The least number of uploads of the day; not less than `KeyServerLimit.statisticsUploadsMin`.
  public var uploadsMin = KeyServerLimit.statisticsUploadsMin
  /// The least number of seconds since the end of the day; within `KeyServerLimit.statisticsDelaySeconds`.
  public var delaySeconds = 48 * 3_600

  /// A configuration with all defaults.
  public init() {}
}

extension StatisticsConfiguration {
  /// Rejects values that would reveal the upload of a single user.
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
