// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import Testing
import World

@Suite("Times that people read and type")
struct UTCTimeTests {
  @Test(
    "Unix seconds, days, and days with a time are read",
    arguments: [
      ("0", 0), ("1590159600", 1_590_159_600), ("1970-01-02", 86_400),
      ("2026-11-30", 1_795_996_800), ("1970-01-01T00:01Z", 60),
      ("1970-01-01 01:00", 3_600), ("1970-01-01T00:00:05Z", 5), ("1970-01-01T23:59:59", 86_399),
    ])
  func read(text: String, second: Int) throws {
    let time = try #require(UTCTime(text))
    #expect(time.date.unixSecond == Int64(second))
    #expect(UTCTime("\(time.date.unixSecond)")?.text == time.text)
  }

  @Test(
    "Other text is refused",
    arguments: [
      "", "-1", "1.5", "gestern", "2026-02-30", "2026-11-30T", "2026-11-30T24:00Z",
      "2026-11-30T08:60Z", "2026-11-30T08:00:60Z", "2026-11-30T8:00Z", "2026-11-30T08:00+01:00",
      "30.11.2026", "253402300800", "99999999999999999999",
    ])
  func refused(text: String) {
    #expect(UTCTime(text) == nil)
  }

  @Test("The text has the day and the second in UTC, and is read again without its zone")
  func text() {
    #expect(UTCTime(unixSecond: 1_590_159_600).text == "2020-05-22 15:00:00 UTC")
    #expect(UTCTime("2020-05-22 15:00:00")?.date.unixSecond == 1_590_159_600)
    #expect(UTCTime(unixSecond: UTCTime.seconds.upperBound).text == "9999-12-31 23:59:59 UTC")
    #expect(UTCTime(unixSecond: 253_402_300_800).text == "253402300800 s after 1970")
  }
}
