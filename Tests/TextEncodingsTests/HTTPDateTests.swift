// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import TextEncodings

@Suite("The dates of HTTP headers") struct HTTPDateTests {
  // RFC 9110, 5.6.7.
  private let date = Date(timeIntervalSince1970: 784_111_777)

  @Test("A date is read as it is written, and other texts are not dates")
  func preferred() {
    #expect(HTTPDate.text(date) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.date("Sun, 06 Nov 1994 08:49:37 GMT") == date)
    for text in [
      "", "GMT", "yesterday GMT", "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ] {
      #expect(HTTPDate.date(text) == nil, "\(text)")
    }
  }

  @Test("A recipient reads the obsolete forms too")
  func obsolete() {
    for text in ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
      #expect(HTTPDate.lenientDate(text) == date, "\(text)")
    }
  }

  @Test("Dates are read as a formatter reads them, in leap years and before 1970 as well")
  func calendar() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    for second in stride(from: -8_000_000_000.0, to: 8_000_000_000, by: 37 * 86_400 + 4_021) {
      let date = Date(timeIntervalSince1970: second)
      #expect(HTTPDate.date(formatter.string(from: date)) == date)
    }
  }

  @Test("A leap second is the first second of the next day")
  func leapSecond() {
    let next = Date(timeIntervalSince1970: 1_483_228_800)
    #expect(HTTPDate.date("Sat, 31 Dec 2016 23:59:60 GMT") == next)
  }

  @Test(
    "A day, a month or a time that does not exist is no date in any form",
    arguments: [
      "Wed, 29 Feb 2023 10:00:00 GMT", "Sun, 06 Now 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 25:49:37 GMT",
    ])
  func impossible(text: String) {
    #expect(HTTPDate.lenientDate(text) == nil)
  }
}
