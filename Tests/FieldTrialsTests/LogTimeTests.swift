import FieldTrials
import Foundation
import Testing

@Suite("Times of logs")
struct LogTimeTests {
  @Test(
    "A moment is read with hours of one digit or two and zones of two or four",
    arguments: [
      ("2021-03-12T09:19:00-0500", 1_615_558_740), ("2021-03-12T9:19:00-05", 1_615_558_740),
      ("2021-03-12T19:49:00+0530", 1_615_558_740), ("1970-01-01T00:00:00+00", 0),
      ("2000-02-29T23:59:59+00", 951_868_799), ("2021-03-01T00:00:00+00", 1_614_556_800),
    ])
  func moments(text: String, seconds: Int) throws {
    #expect(try #require(LogTime(text)).date == Date(timeIntervalSince1970: Double(seconds)))
  }

  @Test("The wall clock may stand in another zone than the one stated")
  func zones() throws {
    let time = try #require(LogTime("2021-03-15T10:18:00-0500"))
    #expect(time.zoneSeconds == -18_000)
    #expect(time.date(zoneSeconds: -14_400) == LogTime("2021-03-15T10:18:00-04")?.date)
  }

  @Test(
    "What is no moment is none",
    arguments: [
      "", "T", "2021-03-12", "2021-03-12T09:19:00", "2021-13-12T09:19:00-05",
      "2021-03-32T09:19:00-05", "2021-03-12T24:19:00-05", "2021-03-12T09:60:00-05",
      "2021-03-12T09:19:00-5", "2021-03-12T09:19:00-15", "2021-03-12T09:19:00-0560",
      "2021-03-12T-9:19:00-05", "99999-03-12T09:19:00-05", "2021-03T09:19:00-05",
      "2021-03-12T09:19-05", "1969-03-12T09:19:00-05",
    ])
  func nonsense(text: String) {
    #expect(LogTime(text) == nil)
  }
}
