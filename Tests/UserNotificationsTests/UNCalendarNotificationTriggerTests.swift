// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import UserNotifications

@Suite("Triggers of the calendar")
struct UNCalendarNotificationTriggerTests {
  private static let format = Date.ISO8601FormatStyle()

  /// A date in universal time.
  private static func date(_ text: String) throws -> Date {
    try Date(text, strategy: format)
  }

  private static func components(
    _ zone: String, year: Int? = nil, month: Int? = nil, day: Int? = nil, hour: Int? = nil,
    minute: Int? = nil, weekday: Int? = nil
  ) -> DateComponents {
    DateComponents(
      timeZone: TimeZone(identifier: zone), year: year, month: month, day: day, hour: hour,
      minute: minute, weekday: weekday)
  }

  private static func warsaw(
    year: Int? = nil, month: Int? = nil, day: Int? = nil, hour: Int? = nil, minute: Int? = nil,
    weekday: Int? = nil
  ) -> DateComponents {
    components(
      "Europe/Warsaw", year: year, month: month, day: day, hour: hour, minute: minute,
      weekday: weekday)
  }

  /// The first dates that match, each after the one before.
  private static func dates(
    _ components: DateComponents, after start: String, count: Int = 2
  ) throws -> [String] {
    var date = try Self.date(start)
    return (0..<count).compactMap { _ -> String? in
      guard let next = UNCalendarNotificationTrigger.nextDate(matching: components, after: date)
      else { return nil }
      date = next
      return next.formatted(format)
    }
  }

  @Test("Components repeat daily, weekly, hourly or monthly; smaller components are 0")
  func repeating() throws {
    let noon = "2026-06-10T10:00:00Z"
    #expect(
      try Self.dates(Self.warsaw(hour: 8), after: noon)
        == ["2026-06-11T06:00:00Z", "2026-06-12T06:00:00Z"])
    #expect(
      try Self.dates(Self.warsaw(hour: 8, weekday: 2), after: noon)
        == ["2026-06-15T06:00:00Z", "2026-06-22T06:00:00Z"])
    #expect(
      try Self.dates(Self.warsaw(minute: 30), after: noon)
        == ["2026-06-10T10:30:00Z", "2026-06-10T11:30:00Z"])
    #expect(
      try Self.dates(Self.warsaw(day: 12), after: noon)
        == ["2026-06-11T22:00:00Z", "2026-07-11T22:00:00Z"])
  }

  @Test("A match at the start does not count")
  func exclusive() throws {
    #expect(
      try Self.dates(Self.warsaw(hour: 8, minute: 0), after: "2026-06-10T06:00:00Z", count: 1)
        == ["2026-06-11T06:00:00Z"])
  }

  @Test("A time in the hour that summer time skips is the end of that hour; the next day has it")
  func springForward() throws {
    #expect(
      try Self.dates(Self.warsaw(hour: 2, minute: 30), after: "2026-03-28T12:00:00Z")
        == ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"])
    let once = Self.warsaw(year: 2026, month: 3, day: 29, hour: 2, minute: 30)
    #expect(try Self.dates(once, after: "2026-03-28T12:00:00Z") == ["2026-03-29T01:00:00Z"])
  }

  @Test("Of a time that a day has twice, the first counts")
  func fallBack() throws {
    #expect(
      try Self.dates(Self.warsaw(hour: 2, minute: 30), after: "2026-10-24T12:00:00Z")
        == ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"])
  }

  @Test("A day that the month lacks is the first moment of the next month")
  func missingDay() throws {
    #expect(
      try Self.dates(Self.warsaw(day: 31), after: "2026-06-10T10:00:00Z")
        == ["2026-06-30T22:00:00Z", "2026-07-30T22:00:00Z"])
  }

  @Test("A full date is found once, and not at all if it is in the past")
  func fullDate() throws {
    let start = "2026-06-10T10:00:00Z"
    let future = Self.warsaw(year: 2026, month: 6, day: 11, hour: 8)
    #expect(try Self.dates(future, after: start) == ["2026-06-11T06:00:00Z"])
    let past: [DateComponents] = [
      Self.warsaw(year: 2026, month: 6, day: 1, hour: 8), Self.warsaw(year: 2025),
      Self.warsaw(year: 2026, month: 6, day: 10, hour: 12),
      Self.warsaw(year: 2027, month: 2, day: 29),
    ]
    for components in past { #expect(try Self.dates(components, after: start).isEmpty) }
  }

  @Test("Components without a value, and negative ones, match nothing")
  func impossible() throws {
    for components in [DateComponents(), Self.warsaw(hour: -1), Self.warsaw(hour: 25)] {
      #expect(try Self.dates(components, after: "2026-06-10T10:00:00Z").isEmpty)
    }
  }

  @Test("The zone of the components counts, also in all components of a date")
  func zone() throws {
    let start = "2026-06-10T10:00:00Z"
    #expect(
      try Self.dates(Self.components("America/New_York", hour: 8), after: start, count: 1)
        == ["2026-06-10T12:00:00Z"])
    let zone = try #require(TimeZone(identifier: "America/New_York"))
    let parts = Calendar(identifier: .gregorian).dateComponents(
      in: zone, from: try Self.date("2026-06-11T10:00:00Z"))
    #expect(try Self.dates(parts, after: start) == ["2026-06-11T10:00:00Z"])
  }

  @Test("The calendar of the components counts")
  func calendar() throws {
    var buddhist = Calendar(identifier: .buddhist)
    buddhist.timeZone = try #require(TimeZone(identifier: "Asia/Bangkok"))
    var components = DateComponents(year: 2569, month: 6, day: 11, hour: 8)
    components.calendar = buddhist
    #expect(
      try Self.dates(components, after: "2026-06-10T10:00:00Z") == ["2026-06-11T01:00:00Z"])
  }

  @Test("The next dates of both triggers count from the current time at each call")
  func nextTriggerDates() throws {
    let interval = UNTimeIntervalNotificationTrigger(timeInterval: 3_600, repeats: false)
    let before = Date()
    let next = try #require(interval.nextTriggerDate())
    #expect(next >= before.addingTimeInterval(3_600) && next <= Date().addingTimeInterval(3_600))
    let daily = UNCalendarNotificationTrigger(
      dateMatching: DateComponents(hour: 8, minute: 0), repeats: true)
    let date = try #require(daily.nextTriggerDate())
    #expect(date > before && date.timeIntervalSince(before) < 26 * 3_600)
    #expect(Calendar.current.component(.hour, from: date) == 8)
    let past = UNCalendarNotificationTrigger(
      dateMatching: DateComponents(year: 2020, month: 1, day: 1, hour: 8), repeats: false)
    #expect(past.nextTriggerDate() == nil)
  }
}
