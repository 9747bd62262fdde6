// SPDX-License-Identifier: Apache-2.0

/// The used share of a total of failures, and its effect on the limits of addresses and networks. The failures of
/// clients that have used up their limits are not included.
enum FailurePressure: Sendable {
  /// Less than a quarter: the usual limits.
  case low
  /// From a quarter on, the limits are a tenth.
  case slowed
  /// From a half on, one failure uses up the limit of an address and of its network.
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

  /// The share of the total that guesses of `weight` may use up. The rest is for light ones, of codes that were made
  /// longer during the attack, and for clients that have used up their limits.
  static func share(for weight: Double) -> Double {
    weight > QuietLimit.lightFailureWeight ? 0.75 : 1 - QuietLimit.excessFailuresShare
  }

  /// The share of the part for clients that have used up their limits from which on the operator is told.
  static let alarmingExcessShare = 0.5

  /// Sums of weights are inexact by less than this.
  static let rounding = 1e-6
}

/// A state of a `FailureBudget` that is reported to the operator.
public enum FailureAlarm: Hashable, Sendable {
  /// A quarter of the total is reached: the limits of addresses and networks are reduced to a tenth.
  case slowed
  /// Half of the total is reached: one failure uses up the limit of an address and of its network.
  case guarded
  /// Three quarters of the total are reached: guesses of much weight are refused.
  case stopped
  /// Clients that have used up their limits have used up half of the part that is kept for them: they have less and
  /// less room, and right attempts behind them may have to wait.
  case beyondLimits
}
