extension WindowRiskPolicy {
  /// What a policy may hold.
  public enum Limit {
    /// Entries of one list.
    public static let entryCountMax = 100
    /// Weights and transmission risk values.
    public static let factors = 0.0...100.0
    /// The ends of ranges: decibels, minutes and levels.
    public static let rangeEnds = 0.0...1_000_000.0
    /// Offsets and transmission risk levels.
    public static let levels = 0...100
  }

  /// The first thing that makes no sense, as a sentence that begins with its field, or nil.
  public var fault: String? {
    countFault ?? filterFault ?? weightFault ?? mappingFault ?? trlEncoding.fault ?? valueFault
  }

  private var countFault: String? {
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

  private var filterFault: String? {
    minutesAtAttenuationFilters.fault("minutesAtAttenuationFilters") {
      $0.attenuationRange.fault("attenuationRange")
        ?? $0.dropIfMinutesInRange.fault("dropIfMinutesInRange")
    } ?? trlFilters.fault("trlFilters") { $0.dropIfTrlInRange.fault("dropIfTrlInRange") }
  }

  private var weightFault: String? {
    minutesAtAttenuationWeights.fault("minutesAtAttenuationWeights") {
      $0.attenuationRange.fault("attenuationRange")
        ?? (Limit.factors.contains($0.weight) ? nil : ".weight must be 0 to 100.")
    }
  }

  private var mappingFault: String? {
    normalizedTimePerEWToRiskLevelMapping.fault("normalizedTimePerEWToRiskLevelMapping") {
      $0.normalizedTimeRange.fault("normalizedTimeRange")
    }
      ?? normalizedTimePerDayToRiskLevelMapping.fault("normalizedTimePerDayToRiskLevelMapping") {
        $0.normalizedTimeRange.fault("normalizedTimeRange")
      }
  }

  private var valueFault: String? {
    let named = transmissionRiskValueMapping.map(\.transmissionRiskLevel)
    guard Set(named).count == named.count else {
      return "transmissionRiskValueMapping names a transmissionRiskLevel twice."
    }
    return transmissionRiskValueMapping.fault("transmissionRiskValueMapping") {
      guard Limit.levels.contains($0.transmissionRiskLevel) else {
        return ".transmissionRiskLevel must be 0 to 100."
      }
      return Limit.factors.contains($0.transmissionRiskValue)
        ? nil : ".transmissionRiskValue must be 0 to 100."
    }
  }
}

extension Array {
  /// The first entry with a fault, named by the list and its place in it.
  fileprivate func fault(_ name: String, _ fault: (Element) -> String?) -> String? {
    lazy.enumerated().compactMap { index, entry in
      fault(entry).map { "\(name)[\(index)]\($0)" }
    }.first
  }
}

extension PolicyRange {
  fileprivate func fault(_ name: String) -> String? {
    let ends = WindowRiskPolicy.Limit.rangeEnds
    guard ends.contains(min), ends.contains(max) else {
      return ".\(name) must lie within 0 and 1000000."
    }
    return min <= max ? nil : ".\(name) has a min above its max."
  }
}

extension TransmissionRiskEncoding {
  fileprivate var fault: String? {
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
