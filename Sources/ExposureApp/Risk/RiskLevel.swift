/// What a person is told about the encounters of the last fourteen days, by its number on the
/// bridge (61).
public enum RiskLevel: Int, Sendable, Codable, Comparable, CaseIterable {
  /// No encounter that counts.
  case none = 0
  /// A low risk.
  case low = 1
  /// A moderate risk.
  case medium = 2
  /// A high risk.
  case high = 3

  /// What a person is told of a policy's level.
  init(_ level: WindowRiskLevel) {
    self =
      switch level {
      case .low: .low
      case .high: .high
      }
  }

  public static func < (one: RiskLevel, other: RiskLevel) -> Bool { one.rawValue < other.rawValue }
}
