/// A health authority's rules for exposure windows: filters, weights and levels.
///
/// The JSON names are those of the Corona-Warn-App's published configuration. Decoding accepts any
/// numbers; `validationError` checks them.
public struct WindowRiskPolicy: Codable, Hashable, Sendable {
  /// Filters that drop windows by their minutes within an attenuation range.
  public var minutesAtAttenuationFilters: [MinutesFilter]
  /// Filters that drop windows by their transmission risk level.
  public var trlFilters: [TransmissionRiskFilter]
  /// The weight of a minute by the minimum attenuation of its scan; the first matching range applies.
  public var minutesAtAttenuationWeights: [AttenuationWeight]
  /// The level of one window by its normalized minutes.
  public var normalizedTimePerEWToRiskLevelMapping: [LevelMapping]
  /// The level of one day by the normalized minutes of its windows.
  public var normalizedTimePerDayToRiskLevelMapping: [LevelMapping]
  /// The transmission risk level by infectiousness and report type.
  public var trlEncoding: TransmissionRiskEncoding
  /// The factor of each transmission risk level; other levels have the factor 0.
  public var transmissionRiskValueMapping: [TransmissionRiskValue]

  /// Creates a policy.
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

extension WindowRiskPolicy {
  /// Drops windows by their minutes within an attenuation range.
  public struct MinutesFilter: Codable, Hashable, Sendable {
    /// The range of the minimum attenuation of a scan, in dB.
    public var attenuationRange: PolicyRange
    /// The range of minutes that are dropped, not weighted.
    public var dropIfMinutesInRange: PolicyRange

    /// Creates a filter.
    public init(attenuationRange: PolicyRange, dropIfMinutesInRange: PolicyRange) {
      self.attenuationRange = attenuationRange
      self.dropIfMinutesInRange = dropIfMinutesInRange
    }
  }

  /// Drops windows by their transmission risk level.
  public struct TransmissionRiskFilter: Codable, Hashable, Sendable {
    /// The range of levels that are dropped.
    public var dropIfTrlInRange: PolicyRange

    /// Creates a filter.
    public init(dropIfTrlInRange: PolicyRange) {
      self.dropIfTrlInRange = dropIfTrlInRange
    }
  }

  /// The weight of the minutes within an attenuation range.
  public struct AttenuationWeight: Codable, Hashable, Sendable {
    /// The range of the minimum attenuation of a scan, in dB.
    public var attenuationRange: PolicyRange
    /// The factor, 0...100.
    public var weight: Double

    /// Creates a weight.
    public init(attenuationRange: PolicyRange, weight: Double) {
      self.attenuationRange = attenuationRange
      self.weight = weight
    }
  }

  /// The risk level of a range of normalized minutes.
  public struct LevelMapping: Codable, Hashable, Sendable {
    /// The range of normalized minutes.
    public var normalizedTimeRange: PolicyRange
    /// The level.
    public var riskLevel: WindowRiskLevel

    /// Creates a mapping.
    public init(normalizedTimeRange: PolicyRange, riskLevel: WindowRiskLevel) {
      self.normalizedTimeRange = normalizedTimeRange
      self.riskLevel = riskLevel
    }
  }

  /// The factor for the minutes of one transmission risk level.
  public struct TransmissionRiskValue: Codable, Hashable, Sendable {
    /// The transmission risk level.
    public var transmissionRiskLevel: Int
    /// The factor, 0...100.
    public var transmissionRiskValue: Double

    /// Creates a value.
    public init(transmissionRiskLevel: Int, transmissionRiskValue: Double) {
      self.transmissionRiskLevel = transmissionRiskLevel
      self.transmissionRiskValue = transmissionRiskValue
    }
  }
}

/// The encoding of a transmission risk level: an offset for the infectiousness plus an offset for the
/// report type.
public struct TransmissionRiskEncoding: Codable, Hashable, Sendable {
  /// The offset of standard infectiousness.
  public var infectiousnessOffsetStandard: Int
  /// The offset of high infectiousness.
  public var infectiousnessOffsetHigh: Int
  /// The offset of a contact of a contact.
  public var reportTypeOffsetRecursive: Int
  /// The offset of a self-report.
  public var reportTypeOffsetSelfReport: Int
  /// The offset of a clinical diagnosis.
  public var reportTypeOffsetConfirmedClinicalDiagnosis: Int
  /// The offset of a laboratory test.
  public var reportTypeOffsetConfirmedTest: Int

  /// Creates an encoding.
  public init(
    infectiousnessOffsetStandard: Int, infectiousnessOffsetHigh: Int,
    reportTypeOffsetRecursive: Int, reportTypeOffsetSelfReport: Int,
    reportTypeOffsetConfirmedClinicalDiagnosis: Int, reportTypeOffsetConfirmedTest: Int
  ) {
    self.infectiousnessOffsetStandard = infectiousnessOffsetStandard
    self.infectiousnessOffsetHigh = infectiousnessOffsetHigh
    self.reportTypeOffsetRecursive = reportTypeOffsetRecursive
    self.reportTypeOffsetSelfReport = reportTypeOffsetSelfReport
    self.reportTypeOffsetConfirmedClinicalDiagnosis = reportTypeOffsetConfirmedClinicalDiagnosis
    self.reportTypeOffsetConfirmedTest = reportTypeOffsetConfirmedTest
  }
}

/// The level of a window or a day; the raw values are those of the policy.
public enum WindowRiskLevel: Int, Codable, Sendable, Comparable, CaseIterable {
  /// A low risk.
  case low = 1
  /// A high risk.
  case high = 2

  public static func < (one: WindowRiskLevel, other: WindowRiskLevel) -> Bool {
    one.rawValue < other.rawValue
  }
}

/// A range of numbers; both ends are included unless they are marked as exclusive.
public struct PolicyRange: Hashable, Sendable {
  /// The lower end.
  public var min: Double
  /// The upper end.
  public var max: Double
  /// True if the lower end is excluded.
  public var minExclusive: Bool
  /// True if the upper end is excluded.
  public var maxExclusive: Bool

  /// Creates a range.
  public init(
    min: Double, max: Double, minExclusive: Bool = false, maxExclusive: Bool = false
  ) {
    self.min = min
    self.max = max
    self.minExclusive = minExclusive
    self.maxExclusive = maxExclusive
  }

  /// Returns `true` if the range contains `number`.
  public func contains(_ number: Double) -> Bool {
    (minExclusive ? number > min : number >= min) && (maxExclusive ? number < max : number <= max)
  }
}

extension PolicyRange: Codable {
  private enum CodingKeys: String, CodingKey {
    case min, max, minExclusive, maxExclusive
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    min = try fields.decode(Double.self, forKey: .min)
    max = try fields.decode(Double.self, forKey: .max)
    minExclusive = try fields.decodeIfPresent(Bool.self, forKey: .minExclusive) ?? false
    maxExclusive = try fields.decodeIfPresent(Bool.self, forKey: .maxExclusive) ?? false
  }
}
