// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A ten-minute interval of Unix time, the protocol's unit of time.
///
/// Cryptography Specification 1.2.1, "ENIntervalNumber": Unix seconds divided by 600, rounded down,
/// in 32 bits.
public struct IntervalNumber: Hashable, Comparable, Sendable {
  /// The length of one interval.
  public static let seconds: TimeInterval = 600
  /// The intervals of a day, and the longest rolling period of a key (`TEKRollingPeriod`).
  public static let perDay: UInt32 = 144

  /// Intervals since 1970-01-01 00:00 UTC.
  public let rawValue: UInt32

  /// Creates the interval with this number.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The interval that contains `date`, or nil if there is none: before 1970, or beyond 32 bits.
  public init?(_ date: Date) {
    let number = (date.timeIntervalSince1970 / Self.seconds).rounded(.down)
    guard let rawValue = UInt32(exactly: number) else { return nil }
    self.rawValue = rawValue
  }

  /// The start of the interval.
  public var date: Date { Date(timeIntervalSince1970: Double(rawValue) * Self.seconds) }

  /// The first interval of the same UTC day.
  public var startOfDay: IntervalNumber {
    IntervalNumber(rawValue: rawValue - rawValue % Self.perDay)
  }

  /// The interval `count` steps later, or nil beyond the last one.
  public func advanced(by count: UInt32) -> IntervalNumber? {
    let (sum, overflow) = rawValue.addingReportingOverflow(count)
    return overflow ? nil : IntervalNumber(rawValue: sum)
  }

  /// The number of intervals between the two, in either order.
  public func distance(to other: IntervalNumber) -> UInt32 {
    rawValue < other.rawValue ? other.rawValue - rawValue : rawValue - other.rawValue
  }

  public static func < (left: IntervalNumber, right: IntervalNumber) -> Bool {
    left.rawValue < right.rawValue
  }
}
