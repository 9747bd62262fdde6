// SPDX-License-Identifier: Apache-2.0
import Foundation
import VerificationAPI
import World

/// The test result that a code stands for; it does not identify the tested user.
struct TestResult: Hashable, Sendable {
  var testType: TestType
  /// The day on which symptoms began, if known.
  var symptomDay: CalendarDay?
  /// The day of the test, if known.
  var testDay: CalendarDay?

  init(_ testType: TestType, _ dates: TestDates) {
    self.init(testType: testType, symptomDay: dates.symptomDay, testDay: dates.testDay)
  }

  init(testType: TestType, symptomDay: CalendarDay? = nil, testDay: CalendarDay? = nil) {
    self.testType = testType
    self.symptomDay = symptomDay
    self.testDay = testDay
  }

  /// Claim `reportType` of tokens and certificates.
  var reportType: String { testType.rawValue }
  /// Claim `symptomOnsetInterval` of tokens and certificates.
  var symptomOnsetInterval: UInt32? { symptomDay?.interval }
}

/// The two dates of a test result after validation.
struct TestDates: Hashable, Sendable {
  var symptomDay: CalendarDay?
  var testDay: CalendarDay?

  /// The reasons to reject dates.
  enum Invalid: Error {
    /// A text is not a day, or the time zone offset is not allowed.
    case unreadable
    /// A day is in the future, or too long ago.
    case outOfRange
  }

  /// Parses the texts, which may be empty. A day that has begun at the client's time zone, `tzOffset`
  /// minutes ahead of UTC, but not in UTC counts as today.
  init(
    symptomDate: String?, testDate: String?, tzOffset: Double? = nil, now: Date
  ) throws(Invalid) {
    let offset = tzOffset ?? 0
    guard VerificationLimit.timeZoneMinutes.contains(offset) else { throw .unreadable }
    symptomDay = try Self.day(symptomDate, offset: offset, now: now)
    testDay = try Self.day(testDate, offset: offset, now: now)
  }

  var isEmpty: Bool { symptomDay == nil && testDay == nil }

  private static func day(
    _ text: String?, offset: Double, now: Date
  ) throws(Invalid) -> CalendarDay? {
    guard let text, !text.isEmpty else { return nil }
    guard let day = CalendarDay(text) else { throw .unreadable }
    let today = CalendarDay(now)
    let clientToday = max(today, CalendarDay(now.addingTimeInterval(offset * 60)))
    let oldest = CalendarDay(number: today.number - VerificationLimit.symptomAgeDaysMax)
    guard oldest <= day, day <= clientToday else { throw .outOfRange }
    return min(day, today)
  }
}

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

/// Formats dates in UTC.
enum UTCTime {
  /// The form of RFC 1123: `Sun, 06 Nov 1994 08:49:37 UTC`.
  static func rfc1123(_ date: Date) -> String {
    let day = CalendarDay(date)
    let (year, month, dayOfMonth) = day.civil
    let weekday = weekdays[((day.number + 4) % 7 + 7) % 7]
    let monthDay =
      "\(CalendarDay.padded(dayOfMonth, 2)) \(months[month - 1]) \(CalendarDay.padded(year, 4))"
    let second = Int(date.timeIntervalSince(day.midnight))
    let time = [second / 3_600, second / 60 % 60, second % 60].map { CalendarDay.padded($0, 2) }
    return "\(weekday), \(monthDay) \(time.joined(separator: ":")) UTC"
  }
  // 1 January 1970 was a Thursday.
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
