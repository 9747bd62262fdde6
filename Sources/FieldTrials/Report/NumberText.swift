// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Numbers for people.
enum NumberText {
  /// A share with three decimals; a dash if there is none.
  static func share(_ value: Double?) -> String {
    value.map { String(format: "%.3f", $0) } ?? "–"
  }

  /// An interval of shares.
  static func interval(_ interval: AreaInterval?) -> String {
    guard let interval else { return "no interval" }
    return "\(share(interval.low))–\(share(interval.high))"
  }

  /// A number with at most one decimal.
  static func number(_ value: Double) -> String {
    value == value.rounded() ? String(format: "%.0f", value) : String(format: "%.1f", value)
  }
}
