import Foundation
import VerificationAPI

/// What the health authority found, as far as a code carries it: no name, no place, no key.
struct Finding: Hashable, Sendable {
  var testType: TestType
  /// The day on which symptoms began, where known.
  var symptomDay: CalendarDay?
  /// The day of the test, where known.
  var testDay: CalendarDay?

  init(_ testType: TestType, _ dates: FindingDates) {
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

/// The two dates that a code may carry, once they make sense.
///
/// Documentation/VerificationServer.md 3.3.
struct FindingDates: Hashable, Sendable {
  var symptomDay: CalendarDay?
  var testDay: CalendarDay?

  /// Why dates do not make sense.
  enum Fault: Error {
    /// Not a day, or an offset that no clock has.
    case unreadable
    /// To come, or too long ago.
    case outOfRange
  }

  /// The days in the texts, which may be empty. A day that has begun where the asker is, `tzOffset`
  /// minutes ahead of UTC, but not yet in UTC, counts as today.
  init(
    symptomDate: String?, testDate: String?, tzOffset: Double? = nil, now: Date
  ) throws(Fault) {
    let offset = tzOffset ?? 0
    guard VerificationLimit.timeZoneMinutes.contains(offset) else { throw .unreadable }
    symptomDay = try Self.day(symptomDate, offset: offset, now: now)
    testDay = try Self.day(testDate, offset: offset, now: now)
  }

  var isEmpty: Bool { symptomDay == nil && testDay == nil }

  private static func day(
    _ text: String?, offset: Double, now: Date
  ) throws(Fault) -> CalendarDay? {
    guard let text, !text.isEmpty else { return nil }
    guard let day = CalendarDay(text) else { throw .unreadable }
    let today = CalendarDay(now)
    let theirToday = max(today, CalendarDay(now.addingTimeInterval(offset * 60)))
    let oldest = CalendarDay(number: today.number - VerificationLimit.symptomAgeDaysMax)
    guard oldest <= day, day <= theirToday else { throw .outOfRange }
    return min(day, today)
  }
}
