// SPDX-License-Identifier: Apache-2.0
import TextEncodings

/// The parameters with which the framework scores one exposure (ENAPIVersion 1).
///
/// Each score table has one value for each of the framework's eight steps.
public struct RiskScoringParameters: Codable, Hashable, Sendable {
  /// The minimum score of a counted exposure, 0...255.
  public var minimumRiskScore: Int
  /// Not used by the framework, kept for the contract, 0...100.
  public var attenuationWeight: Int
  /// Not used by the framework, kept for the contract, 0...100.
  public var daysSinceLastExposureWeight: Int
  /// Not used by the framework, kept for the contract, 0...100.
  public var durationWeight: Int
  /// Not used by the framework, kept for the contract, 0...100.
  public var transmissionRiskWeight: Int
  /// From far (> 73 dB) to near (<= 10 dB), 0...8 each.
  public var attenuationScores: [Int]
  /// From 14 days ago to today, 0...8 each.
  public var daysSinceLastExposureScores: [Int]
  /// From no time to more than half an hour, 0...8 each.
  public var durationScores: [Int]
  /// From risk level 1 to 8, 0...8 each.
  public var transmissionRiskScores: [Int]
  /// The ends of the near and medium ranges, in dB, ascending.
  public var durationAtAttenuationThresholds: [Int]

  /// The values of ProteGO Safe.
  public static let protegoDefault = RiskScoringParameters()

  private init() {
    minimumRiskScore = 1
    attenuationWeight = 50
    daysSinceLastExposureWeight = 50
    durationWeight = 50
    transmissionRiskWeight = 50
    attenuationScores = [2, 5, 6, 7, 8, 8, 8, 8]
    daysSinceLastExposureScores = [7, 8, 8, 8, 8, 8, 8, 8]
    durationScores = [0, 5, 6, 7, 8, 8, 8, 8]
    transmissionRiskScores = [8, 8, 8, 8, 8, 8, 8, 8]
    durationAtAttenuationThresholds = [48, 58]
  }

  /// Decodes leniently: a missing key, or one of another type, gets its default.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self = Self.protegoDefault
    minimumRiskScore = values.value(.minimumRiskScore, or: minimumRiskScore)
    attenuationWeight = values.value(.attenuationWeight, or: attenuationWeight)
    daysSinceLastExposureWeight = values.value(
      .daysSinceLastExposureWeight, or: daysSinceLastExposureWeight)
    durationWeight = values.value(.durationWeight, or: durationWeight)
    transmissionRiskWeight = values.value(.transmissionRiskWeight, or: transmissionRiskWeight)
    attenuationScores = values.value(.attenuationScores, or: attenuationScores)
    daysSinceLastExposureScores = values.value(
      .daysSinceLastExposureScores, or: daysSinceLastExposureScores)
    durationScores = values.value(.durationScores, or: durationScores)
    transmissionRiskScores = values.value(.transmissionRiskScores, or: transmissionRiskScores)
    durationAtAttenuationThresholds = values.value(
      .durationAtAttenuationThresholds, or: durationAtAttenuationThresholds)
  }
}

extension RiskScoringParameters {
  /// A sentence that names the first field with an invalid value, or nil.
  package var fault: String? {
    if !(0...255).contains(minimumRiskScore) { return "minimumRiskScore must be 0 to 255." }
    let weights = [
      ("attenuationWeight", attenuationWeight),
      ("daysSinceLastExposureWeight", daysSinceLastExposureWeight),
      ("durationWeight", durationWeight), ("transmissionRiskWeight", transmissionRiskWeight),
    ]
    for (name, weight) in weights where !(0...100).contains(weight) {
      return "\(name) must be 0 to 100."
    }
    let tables = [
      ("attenuationScores", attenuationScores),
      ("daysSinceLastExposureScores", daysSinceLastExposureScores),
      ("durationScores", durationScores), ("transmissionRiskScores", transmissionRiskScores),
    ]
    for (name, scores) in tables
    where scores.count != 8 || !scores.allSatisfy((0...8).contains) {
      return "\(name) must hold 8 values from 0 to 8."
    }
    let thresholds = durationAtAttenuationThresholds
    guard thresholds.count == 2, thresholds.allSatisfy((0...255).contains),
      thresholds[0] <= thresholds[1]
    else { return "durationAtAttenuationThresholds must hold 2 ascending values from 0 to 255." }
    return nil
  }
}

/// The highest scores (0...4096) of each risk level. A score above `maxMiddleRiskScore` is a high risk.
public struct RiskScoreThresholds: Codable, Hashable, Sendable {
  /// The highest score without a risk.
  public var maxNoRiskScore: Int
  /// The highest score of a low risk.
  public var maxLowRiskScore: Int
  /// The highest score of a medium risk.
  public var maxMiddleRiskScore: Int

  /// Creates three ascending thresholds.
  public init(maxNoRiskScore: Int, maxLowRiskScore: Int, maxMiddleRiskScore: Int) {
    self.maxNoRiskScore = maxNoRiskScore
    self.maxLowRiskScore = maxLowRiskScore
    self.maxMiddleRiskScore = maxMiddleRiskScore
  }

  /// The values of ProteGO Safe.
  public static let protegoDefault = RiskScoreThresholds(
    maxNoRiskScore: 0, maxLowRiskScore: 1_499, maxMiddleRiskScore: 2_999)

  /// Decodes leniently: a missing key, or one of another type, gets its default.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let standard = Self.protegoDefault
    maxNoRiskScore = values.value(.maxNoRiskScore, or: standard.maxNoRiskScore)
    maxLowRiskScore = values.value(.maxLowRiskScore, or: standard.maxLowRiskScore)
    maxMiddleRiskScore = values.value(.maxMiddleRiskScore, or: standard.maxMiddleRiskScore)
  }

  /// A sentence that names the first field with an invalid value, or nil.
  package var fault: String? {
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
