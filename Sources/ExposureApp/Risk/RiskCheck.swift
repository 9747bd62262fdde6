import Foundation

/// How high the risk was that one run found.
public struct RiskCheck: Codable, Sendable, Hashable {
  /// When the run ended.
  public let date: Date
  /// How many keys this phone has met.
  public let matchedKeyCount: Int
  /// The highest score of the run, 0 where it found nothing.
  public let riskScore: Int
}
