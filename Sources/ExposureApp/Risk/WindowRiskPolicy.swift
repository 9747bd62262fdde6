/// How a health authority judges exposure windows, as data: filters, weights and levels.
///
/// Documentation/App.md 4.5. The names are those of the Corona-Warn-App's configuration, so that a
/// published one can be read as it is. Decoding takes any numbers; `fault` says whether they make sense.
public struct WindowRiskPolicy: Codable, Hashable, Sendable {
  /// Windows of so many minutes within a range of attenuation are dropped.
  public var minutesAtAttenuationFilters: [MinutesFilter]
  /// Windows of these transmission risk levels are dropped.
  public var trlFilters: [TransmissionRiskFilter]
  /// What a minute is worth by the minimum attenuation of its scan; the first range that holds counts.
  public var minutesAtAttenuationWeights: [AttenuationWeight]
  /// The level of one window by its normalized minutes.
  public var normalizedTimePerEWToRiskLevelMapping: [LevelMapping]
  /// The level of one day by the normalized minutes of its windows.
  public var normalizedTimePerDayToRiskLevelMapping: [LevelMapping]
  /// What infectiousness and report type add to the transmission risk level.
  public var trlEncoding: TransmissionRiskEncoding
  /// What the minutes of a transmission risk level are multiplied with; levels not named count 0.
  public var transmissionRiskValueMapping: [TransmissionRiskValue]

  /// A policy of these parts.
  public init(
    minutesAtAttenuationFilters: [MinutesFilter] = [],
    trlFilters: [TransmissionRiskFilter] = [],
    minutesAtAttenuationWeights: [AttenuationWeight],
    normalizedTimePerEWToRiskLevelMapping: [LevelMapping],
    normalizedTimePerDayToRiskLevelMapping: [LevelMapping],
    trlEncoding: TransmissionRiskEncoding,
    transmissionRiskValueMapping: [TransmissionRiskValue]
  ) {
    self.minutesAtAttenuationFilters = minutesAtAttenuationFilters
    self.trlFilters = trlFilters
    self.minutesAtAttenuationWeights = minutesAtAttenuationWeights
    self.normalizedTimePerEWToRiskLevelMapping = normalizedTimePerEWToRiskLevelMapping
    self.normalizedTimePerDayToRiskLevelMapping = normalizedTimePerDayToRiskLevelMapping
    self.trlEncoding = trlEncoding
    self.transmissionRiskValueMapping = transmissionRiskValueMapping
  }
}
