import Foundation

/// How high the risk was that one run found.
public struct RiskCheck: Codable, Sendable, Hashable {
  /// When the run ended.
  public let date: Date
  /// How many keys this phone has met.
  public let matchedKeyCount: Int
  /// The highest score of the run, 0 where it found nothing or a policy judged.
  public let riskScore: Int
  /// The highest level of a day, where a policy judged; nil where none has one.
  public var level: WindowRiskLevel?
}
