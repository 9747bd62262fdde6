import Foundation

/// A moment as people read it, in UTC.
enum CivilTime {
  /// As RFC 1123 writes it: `Sun, 06 Nov 1994 08:49:37 UTC`.
  static func rfc1123(_ date: Date) -> String {
    let day = CalendarDay(date)
    let (year, month, dayOfMonth) = day.civil
    let weekday = weekdays[((day.number + 4) % 7 + 7) % 7]
    let date0 =
      "\(CalendarDay.padded(dayOfMonth, 2)) \(months[month - 1]) \(CalendarDay.padded(year, 4))"
    return "\(weekday), \(date0) \(clock(date)):\(two(seconds(date) % 60)) UTC"
  }

  /// `08:49`.
  static func clock(_ date: Date) -> String {
    "\(two(seconds(date) / 3_600)):\(two(seconds(date) / 60 % 60))"
  }

  private static func seconds(_ date: Date) -> Int {
    Int(date.timeIntervalSince(CalendarDay(date).midnight))
  }

  private static func two(_ number: Int) -> String { CalendarDay.padded(number, 2) }

  // 1 January 1970 was a Thursday.
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
