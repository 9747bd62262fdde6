// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The date format of HTTP headers (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
  /// The text of a date, in whole seconds.
  package static func text(_ date: Date) -> String {
    date.formatted(style) + " GMT"
  }

  /// The date of a text of the form that senders must use; nil for another text.
  ///
  /// Every response has a date, and a formatter would take longer than the rest of the response.
  package static func date(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count == 29, text.hasSuffix(" GMT"), weekdays.contains(String(text.prefix(3))),
      let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)),
      [4, 7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
      bytes[3] == UInt8(ascii: ","), bytes[19] == UInt8(ascii: ":"),
      bytes[22] == UInt8(ascii: ":"),
      let day = number(bytes[5..<7], in: 1...31), let year = number(bytes[12..<16], in: 1...9_999),
      let hour = number(bytes[17..<19], in: 0...23),
      let minute = number(bytes[20..<22], in: 0...59),
      let second = number(bytes[23..<25], in: 0...60)
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon) = (Int32(year - 1_900), Int32(month))
    (parts.tm_mday, parts.tm_hour, parts.tm_min) = (Int32(day), Int32(hour), Int32(minute))
    let start = TimeInterval(timegm(&parts))
    // A day that the month does not have became one of the next month.
    guard parts.tm_mday == day else { return nil }
    return Date(timeIntervalSince1970: start + TimeInterval(second))
  }

  /// The date of a text of that form, or of one of the two obsolete ones that a recipient must accept; nil for another
  /// text.
  package static func lenientDate(_ text: String) -> Date? {
    if let date = date(text) { return date }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    return forms.lazy.compactMap { form in
      formatter.dateFormat = form
      return formatter.date(from: text)
    }.first
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func number(_ digits: ArraySlice<UInt8>, in range: ClosedRange<Int>) -> Int? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    return range.contains(number) ? number : nil
  }

  /// All forms, as formatters do not require a day and an hour of two digits.
  private static let forms = [
    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
  ]

  private static let style = Date.VerbatimFormatStyle(
    format: """
      \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
      \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
      \(second: .twoDigits)
      """,
    locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
    calendar: Calendar(identifier: .gregorian))
}
