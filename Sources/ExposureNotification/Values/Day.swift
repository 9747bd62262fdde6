// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A UTC day as a number of days since 1970, which also names the segments of the contact log.
struct Day: Hashable, Comparable, Sendable {
  static let seconds: TimeInterval = 86_400

  let number: UInt32

  init(number: UInt32) {
    self.number = number
  }

  /// The day of `date`; the first or last possible day if `date` is out of range.
  init(of date: Date) {
    number = UInt32(clamping: date.unixDay)
  }

  /// The oldest day within the retention period if this day is today.
  var first: UInt32 { number - min(number, DeviceLimit.retentionDays) }

  /// True if data of this day is kept on `today`. Tomorrow counts, because clocks differ.
  func isKept(on today: Day) -> Bool {
    number >= today.first && number <= today.number.addingReportingOverflow(1).partialValue
  }

  static func < (left: Day, right: Day) -> Bool { left.number < right.number }

  /// The start of the day. All dates in the framework's results are midnights.
  var midnight: Date { Date(unixDay: number) }

  /// The number of days from this one to `later`; 0 if that is earlier.
  func count(to later: Day) -> Int { Int(later.number - min(number, later.number)) }
}
