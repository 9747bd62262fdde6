import KeyServer

/// When a day of the statistics may be shown. Documentation/KeyServer.md 10.3.
struct StatisticsSettings: Codable {
  var uploadsMin: Int
  var delaySeconds: Int

  /// The defaults.
  init() {
    let standard = StatisticsConfiguration()
    uploadsMin = standard.uploadsMin
    delaySeconds = standard.delaySeconds
  }

  init(from decoder: any Decoder) throws {
    self.init()
    let fields = try SettingFields<CodingKeys>(decoder)
    try fields.read(.uploadsMin, into: &uploadsMin)
    try fields.read(.delaySeconds, into: &delaySeconds)
  }

  /// What the key server is told.
  var configuration: StatisticsConfiguration {
    var statistics = StatisticsConfiguration()
    statistics.uploadsMin = uploadsMin
    statistics.delaySeconds = delaySeconds
    return statistics
  }
}
