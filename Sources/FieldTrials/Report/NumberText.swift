// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Numbers for people.
package enum NumberText {
  /// A share with three decimals; a dash if there is none.
  static func share(_ value: Double?) -> String {
    value.map { String(format: "%.3f", $0) } ?? "–"
  }

  /// An interval of shares.
  static func interval(_ interval: AreaInterval?) -> String {
    guard let interval else { return "no interval" }
    return "\(share(interval.low))–\(share(interval.high))"
  }

  /// A number with at most one decimal; with two digits if it is below one.
  package static func number(_ value: Double) -> String {
    if value == value.rounded() { return String(format: "%.0f", value) }
    return String(format: abs(value) < 1 ? "%.2g" : "%.1f", value)
  }
}
