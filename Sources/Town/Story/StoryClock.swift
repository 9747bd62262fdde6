import Foundation

/// How a story writes its times: in UTC, by the story's own days.
enum StoryClock {
  /// Monday, 2 March 2026, 00:00 UTC: the first day of every story.
  static let firstMidnight = Date(timeIntervalSince1970: 1_772_409_600)

  /// The moment `hour`:`minute` of the story's day `day`, the first being 1.
  static func day(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Date {
    firstMidnight.addingTimeInterval(Double((day - 1) * 86400 + hour * 3600 + minute * 60))
  }

  /// Such as `Day 2 09:15`.
  static func stamp(_ date: Date) -> String { "Day \(dayNumber(date)) \(timeOfDay(date))" }

  /// Such as `Day 2` at midnight and `06:00` elsewhere.
  static func label(_ date: Date) -> String {
    timeOfDay(date) == "00:00" ? "Day \(dayNumber(date))" : timeOfDay(date)
  }

  private static func dayNumber(_ date: Date) -> Int {
    Int((date.timeIntervalSince(firstMidnight) / 86400).rounded(.down)) + 1
  }

  private static func timeOfDay(_ date: Date) -> String {
    let minutes = Int(date.timeIntervalSince(firstMidnight) / 60) % 1440
    return twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
