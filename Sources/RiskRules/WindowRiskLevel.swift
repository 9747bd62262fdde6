// SPDX-License-Identifier: Apache-2.0

/// The level of a window or a day; the raw values are those of the policy.
public enum WindowRiskLevel: Int, Codable, Sendable, Comparable, CaseIterable {
  /// A low risk.
  case low = 1
  /// A high risk.
  case high = 2

  public static func < (one: WindowRiskLevel, other: WindowRiskLevel) -> Bool {
    one.rawValue < other.rawValue
  }
}
