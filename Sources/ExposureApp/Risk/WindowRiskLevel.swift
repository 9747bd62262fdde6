/// What a policy says of a window, a day or all of them, by its number in the policy.
public enum WindowRiskLevel: Int, Codable, Sendable, Comparable, CaseIterable {
  /// A low risk.
  case low = 1
  /// A high risk.
  case high = 2

  public static func < (one: WindowRiskLevel, other: WindowRiskLevel) -> Bool {
    one.rawValue < other.rawValue
  }
}
