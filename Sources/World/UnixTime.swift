// SPDX-License-Identifier: Apache-2.0
import Foundation

// Unix time: seconds since 1970 in UTC, without leap seconds. Files, databases and protocols have whole numbers.

extension Date {
  /// The whole second, rounded down; the nearest possible one for a date beyond `Int64`.
  package var unixSecond: Int64 { Self.whole(timeIntervalSince1970) }

  /// The whole millisecond, rounded down; the nearest possible one for a date beyond `Int64`.
  ///
  /// A date is a binary fraction, and may be a quarter of a microsecond before its millisecond.
  package var unixMillisecond: Int64 { Self.whole(timeIntervalSince1970 * 1_000 + 0.001) }

  /// The day in UTC, rounded down: the number of days since 1970-01-01.
  package var unixDay: Int { Int(Self.whole(timeIntervalSince1970 / Self.unixDaySeconds)) }

  /// The start of a second.
  package init(unixSecond: some BinaryInteger) {
    self.init(timeIntervalSince1970: TimeInterval(unixSecond))
  }

  /// The start of a millisecond.
  package init(unixMillisecond: some BinaryInteger) {
    self.init(timeIntervalSince1970: TimeInterval(unixMillisecond) / 1_000)
  }

  /// 00:00 UTC of a day.
  package init(unixDay: some BinaryInteger) {
    self.init(timeIntervalSince1970: TimeInterval(unixDay) * Self.unixDaySeconds)
  }

  /// The seconds of a day of Unix time.
  package static var unixDaySeconds: TimeInterval { 86_400 }

  private static func whole(_ number: Double) -> Int64 {
    let whole = number.rounded(.down)
    return Int64(exactly: whole) ?? (whole < 0 ? .min : .max)
  }
}
