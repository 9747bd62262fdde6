extension WindowRiskPolicy {
  /// Drops windows by the minutes they spent within a range of attenuation.
  public struct MinutesFilter: Codable, Hashable, Sendable {
    /// In dB, against the minimum attenuation of a scan.
    public var attenuationRange: PolicyRange
    /// In minutes, not weighted.
    public var dropIfMinutesInRange: PolicyRange

    /// A filter of these ranges.
    public init(attenuationRange: PolicyRange, dropIfMinutesInRange: PolicyRange) {
      self.attenuationRange = attenuationRange
      self.dropIfMinutesInRange = dropIfMinutesInRange
    }
  }

  /// Drops windows by their transmission risk level.
  public struct TransmissionRiskFilter: Codable, Hashable, Sendable {
    /// Against the sum of both offsets.
    public var dropIfTrlInRange: PolicyRange

    /// A filter of this range.
    public init(dropIfTrlInRange: PolicyRange) {
      self.dropIfTrlInRange = dropIfTrlInRange
    }
  }

  /// What a minute within a range of attenuation is worth.
  public struct AttenuationWeight: Codable, Hashable, Sendable {
    /// In dB, against the minimum attenuation of a scan.
    public var attenuationRange: PolicyRange
    /// A factor, 0 or more.
    public var weight: Double

    /// A weight for this range.
    public init(attenuationRange: PolicyRange, weight: Double) {
      self.attenuationRange = attenuationRange
      self.weight = weight
    }
  }

  /// Which level normalized minutes make.
  public struct LevelMapping: Codable, Hashable, Sendable {
    /// In normalized minutes.
    public var normalizedTimeRange: PolicyRange
    /// The level.
    public var riskLevel: WindowRiskLevel

    /// A level for this range.
    public init(normalizedTimeRange: PolicyRange, riskLevel: WindowRiskLevel) {
      self.normalizedTimeRange = normalizedTimeRange
      self.riskLevel = riskLevel
    }
  }

  /// What the minutes of one transmission risk level are multiplied with.
  public struct TransmissionRiskValue: Codable, Hashable, Sendable {
    /// The sum of both offsets.
    public var transmissionRiskLevel: Int
    /// A factor, 0 or more.
    public var transmissionRiskValue: Double

    /// A value for this level.
    public init(transmissionRiskLevel: Int, transmissionRiskValue: Double) {
      self.transmissionRiskLevel = transmissionRiskLevel
      self.transmissionRiskValue = transmissionRiskValue
    }
  }
}
