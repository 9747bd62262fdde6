// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A day of the user's calendar, such as that of a test: a date without a time zone. It is no period of moments until
/// the user's time zone is known.
public struct CalendarDay: Codable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number of dates since 1970-01-01.
  let number: Int

  private init(number: Int) {
    self.number = number
  }

  /// The date of a text such as `2026-11-20`; `nil` for another form or a date that does not exist.
  public init?(_ text: String) {
    let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    // Text of another form makes the parser throw.
    guard text.utf8.count == 10, let start = try? Date(text, strategy: style),
      start.formatted(style) == text
    else { return nil }
    number = start.unixDay
  }

  /// The date of a UTC day, for a count of days that begins with it.
  public init(sameDateAs day: UTCDay) {
    number = day.number
  }

  /// The date of a moment in a time zone.
  public init(of moment: Date, in zone: TimeZone) {
    number = moment.addingTimeInterval(TimeInterval(zone.secondsFromGMT(for: moment))).unixDay
  }

  /// The date `days` later.
  public func adding(days: Int) -> CalendarDay { CalendarDay(number: number + days) }

  /// Returns `true` if the date is, in at least one time zone, today at `now` or one of the `days` dates before.
  func isTodayOrBefore(by days: Int, at now: Date) -> Bool {
    let today = Self.zoneSeconds.map { now.addingTimeInterval($0).unixDay }
    return (today[0] - days...today[1]).contains(number)
  }

  /// The offsets from UTC of the time zones with the earliest and the latest date, in seconds.
  private static let zoneSeconds: [TimeInterval] = [-12 * 3_600, 14 * 3_600]

  /// `2026-11-20`.
  public var description: String { UTCDay(number).description }

  public static func < (one: CalendarDay, other: CalendarDay) -> Bool {
    one.number < other.number
  }

  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let day = CalendarDay(text) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "not a date such as 2026-11-20"))
    }
    self = day
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
