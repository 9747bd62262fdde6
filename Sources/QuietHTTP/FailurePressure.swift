// SPDX-License-Identifier: Apache-2.0

/// The used share of a total of failures, and its effect on the limits of addresses and networks.
enum FailurePressure: Sendable {
  /// Less than a quarter: the usual limits.
  case low
  /// From a quarter on, the limits are a tenth.
  case slowed
  /// From a half on, only clients are served whose address and network have not failed before.
  case guarded
  /// From three quarters on, also these are refused if their guess has much weight.
  case stopped

  init(_ share: Double) {
    self =
      switch share {
      case ..<0.25: .low
      case ..<0.5: .slowed
      case ..<0.75: .guarded
      default: .stopped
      }
  }

  /// The alarm for the operator.
  var alarm: FailureAlarm? {
    switch self {
    case .low: nil
    case .slowed: .slowed
    case .guarded: .guarded
    case .stopped: .stopped
    }
  }

  /// The share of the total that guesses of `weight` may use up. The last quarter is for light ones: codes that were
  /// made longer during the attack.
  static func share(for weight: Double) -> Double {
    weight > QuietLimit.lightFailureWeight ? 0.75 : 1
  }

  /// Sums of weights are inexact by less than this.
  static let rounding = 1e-6
}

/// A state of a `FailureBudget` that is reported to the operator.
public enum FailureAlarm: Hashable, Sendable {
  /// A quarter of the total is reached: the limits of addresses and networks are reduced to a tenth.
  case slowed
  /// Half of the total is reached: only clients without earlier failures are served.
  case guarded
  /// Three quarters of the total are reached: guesses of much weight are refused.
  case stopped
}
