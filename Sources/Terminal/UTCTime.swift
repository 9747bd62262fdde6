// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A time as people read it and type it: a day, or a day and a time of day, in UTC.
package struct UTCTime {
  package let date: Date

  package init(_ date: Date) {
    self.date = date
  }

  package init(unixSecond: Int64) {
    date = Date(unixSecond: unixSecond)
  }

  /// The values that `init(_:)` reads, for messages.
  package static let form =
    "Unix seconds, a day such as 2026-11-30, or a day and time in UTC such as 2026-11-30T08:00Z"

  /// The accepted Unix seconds: times until the end of the year 9999, the last with four digits.
  package static let seconds: ClosedRange<Int64> = 0...253_402_300_799

  /// Reads Unix seconds, a day (its midnight), or a day and a time. Fails for other text.
  package init?(_ text: String) {
    if let seconds = Int64(text) {
      guard Self.seconds.contains(seconds) else { return nil }
      self.init(unixSecond: seconds)
      return
    }
    let day = text.prefix(10)
    guard let midnight = CalendarDate(String(day))?.midnight else { return nil }
    guard text.count > day.count else {
      self.init(midnight)
      return
    }
    let time = text.dropFirst(day.count)
    guard let match = time.wholeMatch(of: /[T ]([0-9]{2}):([0-9]{2})(:([0-9]{2}))?Z?/),
      let hours = Int(match.1), let minutes = Int(match.2), hours < 24, minutes < 60,
      let seconds = match.4.map({ Int($0) }) ?? 0, seconds < 60
    else { return nil }
    self.init(midnight.addingTimeInterval(Double(hours * 3_600 + minutes * 60 + seconds)))
  }

  /// The time to the second, such as `2026-11-30 08:00:00 UTC`.
  package var text: String {
    let second = date.unixSecond
    guard Self.seconds.contains(second) else { return "\(second) s after 1970" }
    let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .gmt)
    return date.formatted(style).replacing("Z", with: " UTC")
  }
}
