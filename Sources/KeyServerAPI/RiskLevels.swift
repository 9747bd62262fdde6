/// From which score on (0...4096) a person is told what.
///
/// Documentation/SeedContract.md 6.3: up to `maxNoRiskScore` none, up to `maxLowRiskScore` low, up to
/// `maxMiddleRiskScore` medium, above it high.
public struct RiskLevels: Codable, Hashable, Sendable {
  /// The highest score that is no risk.
  public var maxNoRiskScore: Int
  /// The highest score that is a low risk.
  public var maxLowRiskScore: Int
  /// The highest score that is a medium risk.
  public var maxMiddleRiskScore: Int

  /// Three thresholds, ascending.
  public init(maxNoRiskScore: Int, maxLowRiskScore: Int, maxMiddleRiskScore: Int) {
    self.maxNoRiskScore = maxNoRiskScore
    self.maxLowRiskScore = maxLowRiskScore
    self.maxMiddleRiskScore = maxMiddleRiskScore
  }

  /// What ProteGO Safe shipped with.
  public static let protegoDefault = RiskLevels(
    maxNoRiskScore: 0, maxLowRiskScore: 1_499, maxMiddleRiskScore: 2_999)

  /// Never throws for a key that is missing or of another type.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let standard = Self.protegoDefault
    maxNoRiskScore = values.value(.maxNoRiskScore, or: standard.maxNoRiskScore)
    maxLowRiskScore = values.value(.maxLowRiskScore, or: standard.maxLowRiskScore)
    maxMiddleRiskScore = values.value(.maxMiddleRiskScore, or: standard.maxMiddleRiskScore)
  }

  /// The first value out of bounds, as a sentence that names its field, or nil.
  var fault: String? {
    let levels = [
      ("maxNoRiskScore", maxNoRiskScore), ("maxLowRiskScore", maxLowRiskScore),
      ("maxMiddleRiskScore", maxMiddleRiskScore),
    ]
    for (name, score) in levels where !(0...4_096).contains(score) {
      return "\(name) must be 0 to 4096."
    }
    for ((lower, low), (upper, high)) in zip(levels, levels.dropFirst()) where low >= high {
      return "\(upper) must be more than \(lower)."
    }
    return nil
  }
}
