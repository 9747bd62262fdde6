// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A day in UTC, as the number of days since 1 January 1970.
struct CalendarDay: Hashable, Comparable, Sendable {
  let number: Int

  init(number: Int) {
    self.number = number
  }

  init(_ date: Date) {
    number = date.unixDay
  }

  /// Parses `YYYY-MM-DD`; returns nil if the text is not a day of the calendar.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.map(\.count) == [4, 2, 2], let year = Self.number(parts[0]),
      let month = Self.number(parts[1]), let day = Self.number(parts[2]),
      (1...12).contains(month), day >= 1
    else { return nil }
    self.init(number: Self.number(year: year, month: month, day: day))
    // 30 February gave a day in March.
    guard self.text == text else { return nil }
  }

  /// The form `YYYY-MM-DD`.
  var text: String {
    let (year, month, day) = civil
    return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2)
  }

  /// Midnight in the form of RFC 3339.
  var midnightText: String { "\(text)T00:00:00Z" }

  /// The first ten-minute interval of the day.
  var interval: UInt32? { UInt32(exactly: number * 144) }

  var midnight: Date { Date(unixDay: number) }

  static func < (one: Self, other: Self) -> Bool { one.number < other.number }

  /// Year, month and day in the Gregorian calendar.
  ///
  /// Years are counted from 1 March, so that the leap day is their last day and the lengths of the months
  /// repeat every five months (153 days).
  var civil: (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  private static func number(year: Int, month: Int, day: Int) -> Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func number(_ digits: Substring.UTF8View.SubSequence) -> Int? {
    guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  static func padded(_ number: Int, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
