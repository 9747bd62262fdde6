// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The value of the header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
  /// The seconds to wait, at most the limit; `nil` for another value.
  ///
  /// - Parameter sent: The time of the response: that of its header `Date` if possible, because the phone's
  ///   clock may be wrong.
  static func seconds(_ value: String, sentAt sent: Date) -> Int? {
    let text = value.trimmingCharacters(in: .whitespaces)
    guard let seconds = Double(digits: text) ?? date(text)?.timeIntervalSince(sent) else {
      return nil
    }
    return Int(min(max(seconds, 0), Double(NetworkLimit.retryAfterSecondsMax)))
  }

  /// Parses a date: `Sun, 06 Nov 1994 08:49:37 GMT`, or one of the two obsolete formats that a recipient must
  /// accept.
  static func date(_ text: String) -> Date? {
    if let date = preferred(text) { return date }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    return forms.lazy.compactMap { form in
      formatter.dateFormat = form
      return formatter.date(from: text)
    }.first
  }

  /// Parses the form that servers must send. Every response has a date, and a formatter would take longer than the
  /// rest of the response.
  private static func preferred(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count == 29, text.hasSuffix(" GMT"), weekdays.contains(String(text.prefix(3))),
      let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)),
      [4, 7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
      bytes[3] == UInt8(ascii: ","), bytes[19] == UInt8(ascii: ":"),
      bytes[22] == UInt8(ascii: ":"),
      let day = number(bytes[5..<7], in: 1...31), let year = number(bytes[12..<16], in: 1...9_999),
      let hour = number(bytes[17..<19], in: 0...23),
      let minute = number(bytes[20..<22], in: 0...59),
      let second = number(bytes[23..<25], in: 0...60), day <= length(ofMonth: month, year)
    else { return nil }
    let minutes = (daysSince1970(year, month + 1, day) * 24 + hour) * 60 + minute
    return Date(unixSecond: minutes * 60 + second)
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

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
  }

  /// The days from 1 January 1970 in the Gregorian calendar; years begin in March, so that a leap day is the last.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let days = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + days - 719_468
  }

  private static let forms = [
    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
  ]
}

extension Double {
  /// The value of a text of digits alone.
  init?(digits text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text)
  }
}
