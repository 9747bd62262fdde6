// SPDX-License-Identifier: Apache-2.0
import RiskRules

/// The risk level that the user sees. The raw values from 0 are ProteGO Safe's.
public enum RiskLevel: Int, Sendable, Codable, Comparable, CaseIterable {
  /// Not known, because results were lost or undone and have not all been computed again.
  case unknown = -1
  /// No relevant encounter.
  case none = 0
  /// A low risk.
  case low = 1
  /// A moderate risk.
  case medium = 2
  /// A high risk.
  case high = 3

  /// The level that the user sees for a level of a policy.
  init(_ level: WindowRiskLevel) {
    self =
      switch level {
      case .low: .low
      case .high: .high
      }
  }

  public static func < (one: RiskLevel, other: RiskLevel) -> Bool { one.rawValue < other.rawValue }
}
