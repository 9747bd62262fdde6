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
