import Foundation

/// A time in the format of logs: `2021-03-12T9:19:00-0500`. The hour may lack a leading zero, and the zone
/// may lack minutes.
package struct LogTime: Hashable, Sendable {
  /// The local time, in seconds since 1970 as if it were UTC.
  package let wallSeconds: Int
  /// The stated time zone, in seconds east of UTC.
  package let zoneSeconds: Int

  /// The date, in the stated time zone.
  package var date: Date { date(zoneSeconds: zoneSeconds) }

  /// The date of the same local time in another time zone.
  package func date(zoneSeconds: Int) -> Date {
    Date(timeIntervalSince1970: Double(wallSeconds - zoneSeconds))
  }

  /// Returns nil if `text` is not such a time.
  package init?(_ text: some StringProtocol) {
    let halves = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2,
      let sign = halves[1].lastIndex(where: { $0 == "+" || $0 == "-" }),
      let day = Self.numbers(halves[0], separator: "-"),
      let time = Self.numbers(halves[1][..<sign], separator: ":"),
      let zone = Self.zone(halves[1][sign...]),
      let days = Self.daysSince1970(year: day[0], month: day[1], day: day[2]),
      0..<24 ~= time[0], 0..<60 ~= time[1], 0..<61 ~= time[2]
    else { return nil }
    wallSeconds = days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
    zoneSeconds = zone
  }

  /// Three unsigned numbers.
  private static func numbers(_ text: some StringProtocol, separator: Character) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let numbers = parts.compactMap { UInt16($0).map(Int.init) }
    return numbers.count == 3 ? numbers : nil
  }

  private static func zone(_ text: some StringProtocol) -> Int? {
    let digits = text.dropFirst()
    guard let number = UInt16(digits), digits.count == 2 || digits.count == 4 else { return nil }
    let hours = digits.count == 2 ? Int(number) : Int(number) / 100
    let minutes = digits.count == 2 ? 0 : Int(number) % 100
    guard hours <= 14, minutes < 60 else { return nil }
    return (text.first == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
  }

  /// Days of the Gregorian calendar. Years begin in March, so that the leap day is the last.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
    guard 1970...2100 ~= year, 1...12 ~= month, 1...31 ~= day else { return nil }
    let (years, months) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let leapDays = years / 4 - years / 100 + years / 400
    let daysTo1970 = 719_468
    return years * 365 + leapDays + (153 * months + 2) / 5 + day - 1 - daysTo1970
  }
}
