// SPDX-License-Identifier: Apache-2.0
import Foundation
import VerificationAPI

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
  /// minutes ahead of UTC, but not in UTC counts as today; the oldest day is that of whichever of both is earlier.
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
    let clientToday = CalendarDay(now.addingTimeInterval(offset * 60))
    let oldest = min(today, clientToday).number - VerificationLimit.symptomAgeDaysMax
    guard CalendarDay(number: oldest) <= day, day <= max(today, clientToday) else {
      throw .outOfRange
    }
    return min(day, today)
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
