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
