// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A day in UTC: that of a key, or of an encounter. In other time zones it is a part of two days of the user's
/// calendar. It is stored as the moment at which it begins.
public struct UTCDay: Codable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number of days since 1970-01-01.
  public let number: Int

  /// The day with this number of days since 1970-01-01.
  public init(_ number: Int) {
    self.number = number
  }

  /// The day of a moment.
  public init(of moment: Date) {
    number = moment.unixDay
  }

  /// The moment at which the day begins.
  public var start: Date { Date(unixDay: number) }

  /// `2026-11-26`.
  public var description: String {
    start.formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day())
  }

  /// The number of days from the same date of the user's calendar until this one.
  func days(since day: CalendarDay) -> Int { number - day.number }

  public static func < (one: UTCDay, other: UTCDay) -> Bool { one.number < other.number }

  public init(from decoder: any Decoder) throws {
    number = try decoder.singleValueContainer().decode(Date.self).unixDay
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(start)
  }
}
