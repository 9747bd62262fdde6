// SPDX-License-Identifier: Apache-2.0

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

extension WindowRiskPolicy {
  /// The limits of a policy.
  public enum Limit {
    /// The maximum number of entries in each list.
    public static let entryCountMax = 100
    /// The range of weights and transmission risk values.
    public static let factors = 0.0...100.0
    /// The range of range ends, in decibels, minutes or levels.
    public static let rangeEnds = 0.0...1_000_000.0
    /// The range of offsets and transmission risk levels.
    public static let levels = 0...100
  }

  /// The first validation error, as a sentence that begins with the field; `nil` if the policy is valid.
  public var validationError: String? {
    countError ?? emptyError ?? filterError ?? weightError ?? mappingError ?? overlapError
      ?? trlEncoding.validationError
      ?? valueError
  }

  private var countError: String? {
    [
      ("minutesAtAttenuationFilters", minutesAtAttenuationFilters.count),
      ("trlFilters", trlFilters.count),
      ("minutesAtAttenuationWeights", minutesAtAttenuationWeights.count),
      ("normalizedTimePerEWToRiskLevelMapping", normalizedTimePerEWToRiskLevelMapping.count),
      ("normalizedTimePerDayToRiskLevelMapping", normalizedTimePerDayToRiskLevelMapping.count),
      ("transmissionRiskValueMapping", transmissionRiskValueMapping.count),
    ].first { $0.1 > Limit.entryCountMax }
      .map { "\($0.0) has \($0.1) entries; \(Limit.entryCountMax) at most." }
  }

  /// Without these entries no day would have a risk.
  private var emptyError: String? {
    if normalizedTimePerDayToRiskLevelMapping.isEmpty {
      return "normalizedTimePerDayToRiskLevelMapping must have an entry."
    }
    return transmissionRiskValueMapping.isEmpty
      ? "transmissionRiskValueMapping must have an entry." : nil
  }

  private var overlapError: String? {
    [
      ("normalizedTimePerEWToRiskLevelMapping", normalizedTimePerEWToRiskLevelMapping),
      ("normalizedTimePerDayToRiskLevelMapping", normalizedTimePerDayToRiskLevelMapping),
    ].first { Self.hasOverlap($0.1.map(\.normalizedTimeRange)) }
      .map { "\($0.0) must not have overlapping ranges." }
  }

  private static func hasOverlap(_ ranges: [PolicyRange]) -> Bool {
    let ascending = ranges.sorted { $0.min < $1.min }
    return zip(ascending, ascending.dropFirst()).contains { lower, upper in
      lower.max > upper.min || lower.contains(upper.min) && upper.contains(lower.max)
    }
  }

  private var filterError: String? {
    minutesAtAttenuationFilters.validationError("minutesAtAttenuationFilters") {
      $0.attenuationRange.validationError("attenuationRange")
        ?? $0.dropIfMinutesInRange.validationError("dropIfMinutesInRange")
    }
      ?? trlFilters.validationError("trlFilters") {
        $0.dropIfTrlInRange.validationError("dropIfTrlInRange")
      }
  }

  private var weightError: String? {
    minutesAtAttenuationWeights.validationError("minutesAtAttenuationWeights") {
      $0.attenuationRange.validationError("attenuationRange")
        ?? (Limit.factors.contains($0.weight) ? nil : ".weight must be 0 to 100.")
    }
  }

  private var mappingError: String? {
    normalizedTimePerEWToRiskLevelMapping.validationError("normalizedTimePerEWToRiskLevelMapping") {
      $0.normalizedTimeRange.validationError("normalizedTimeRange")
    }
      ?? normalizedTimePerDayToRiskLevelMapping.validationError(
        "normalizedTimePerDayToRiskLevelMapping"
      ) {
        $0.normalizedTimeRange.validationError("normalizedTimeRange")
      }
  }

  private var valueError: String? {
    let named = transmissionRiskValueMapping.map(\.transmissionRiskLevel)
    guard Set(named).count == named.count else {
      return "transmissionRiskValueMapping names a transmissionRiskLevel twice."
    }
    return transmissionRiskValueMapping.validationError("transmissionRiskValueMapping") {
      guard Limit.levels.contains($0.transmissionRiskLevel) else {
        return ".transmissionRiskLevel must be 0 to 100."
      }
      return Limit.factors.contains($0.transmissionRiskValue)
        ? nil : ".transmissionRiskValue must be 0 to 100."
    }
  }
}

extension Array {
  /// The first invalid entry, with the name of the list and its index.
  fileprivate func validationError(_ name: String, _ validationError: (Element) -> String?)
    -> String?
  {
    lazy.enumerated().compactMap { index, entry in
      validationError(entry).map { "\(name)[\(index)]\($0)" }
    }.first
  }
}

extension PolicyRange {
  fileprivate func validationError(_ name: String) -> String? {
    let ends = WindowRiskPolicy.Limit.rangeEnds
    guard ends.contains(min), ends.contains(max) else {
      return ".\(name) must be within 0 and 1000000."
    }
    return min <= max ? nil : ".\(name) has a min above its max."
  }
}

extension TransmissionRiskEncoding {
  fileprivate var validationError: String? {
    [
      ("infectiousnessOffsetStandard", infectiousnessOffsetStandard),
      ("infectiousnessOffsetHigh", infectiousnessOffsetHigh),
      ("reportTypeOffsetRecursive", reportTypeOffsetRecursive),
      ("reportTypeOffsetSelfReport", reportTypeOffsetSelfReport),
      ("reportTypeOffsetConfirmedClinicalDiagnosis", reportTypeOffsetConfirmedClinicalDiagnosis),
      ("reportTypeOffsetConfirmedTest", reportTypeOffsetConfirmedTest),
    ].first { !WindowRiskPolicy.Limit.levels.contains($0.1) }
      .map { "trlEncoding.\($0.0) must be 0 to 100." }
  }
}
