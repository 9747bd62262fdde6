// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import World

@testable import HealthAuthorityConsole

/// Times and days in the zone of an office.
@Suite struct OfficeTimeTests {
  private static func office(
    _ zone: String, _ language: ConsoleLanguage = .polish
  ) throws -> OfficeTime {
    OfficeTime(zone: try #require(TimeZone(identifier: zone)), language: language)
  }

  private static func date(_ text: String) throws -> Date {
    try Date(text, strategy: .iso8601)
  }

  @Test(
    "A time has the abbreviation of its zone in winter and in summer",
    arguments: [
      ("Europe/Warsaw", "2027-01-15T08:15:00Z", "2027-01-15 09:15 CET", "CET +01:00"),
      ("Europe/Warsaw", "2027-07-15T08:15:00Z", "2027-07-15 10:15 CEST", "CEST +02:00"),
      // Summer time ends: the hour from two to three occurs twice.
      ("Europe/Warsaw", "2026-10-25T00:30:00Z", "2026-10-25 02:30 CEST", "CEST +02:00"),
      ("Europe/Warsaw", "2026-10-25T01:30:00Z", "2026-10-25 02:30 CET", "CET +01:00"),
      ("Europe/Warsaw", "2026-12-31T23:30:00Z", "2027-01-01 00:30 CET", "CET +01:00"),
      ("America/St_Johns", "2027-01-15T02:00:00Z", "2027-01-14 22:30", "-03:30"),
    ])
  func times(zone: String, time: String, text: String, column: String) throws {
    for language in ConsoleLanguage.allCases {
      let office = try Self.office(zone, language)
      let date = try Self.date(time)
      #expect(office.text(date).hasPrefix(text))
      #expect(office.column(at: date).hasPrefix(zone) && office.column(at: date).hasSuffix(column))
    }
  }

  @Test("The day is that of the office, also some days earlier and across a change of the clocks")
  func days() throws {
    let warsaw = try Self.office("Europe/Warsaw")
    #expect(warsaw.day(try Self.date("2026-11-26T23:30:00Z")) == "2026-11-27")
    #expect(warsaw.day(try Self.date("2026-11-26T22:30:00Z")) == "2026-11-26")
    // 28 days of 24 hours before would be the evening of the day before, as the night of 28 March has 23 hours.
    let night = try Self.date("2027-03-28T22:30:00Z")
    #expect(warsaw.day(night) == "2027-03-29" && warsaw.day(night, offset: -28) == "2027-03-01")
    let newYork = try Self.office("America/New_York")
    #expect(newYork.day(try Self.date("2027-01-01T04:59:00Z")) == "2026-12-31")
    #expect(newYork.minutesAheadOfUTC(at: try Self.date("2027-01-01T04:59:00Z")) == -300)
  }

  @Test(
    "A day starts at its first moment, also if the clocks skip or repeat its first hour",
    arguments: [
      ("Europe/Warsaw", "2027-01-15", "2027-01-14T23:00:00Z"),
      ("Europe/Warsaw", "2027-03-28", "2027-03-27T23:00:00Z"),
      ("Europe/Warsaw", "2027-03-29", "2027-03-28T22:00:00Z"),
      ("Asia/Kathmandu", "2027-01-15", "2027-01-14T18:15:00Z"),
      ("America/St_Johns", "2027-01-15", "2027-01-15T03:30:00Z"),
      // From 0:00 to 1:00.
      ("Atlantic/Azores", "2027-03-28", "2027-03-28T01:00:00Z"),
      ("Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00Z"),
      // From 1:00 to 0:00.
      ("Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00Z"),
    ])
  func starts(zone: String, day: String, start: String) throws {
    let office = try Self.office(zone)
    let date = try #require(office.start(ofDay: day))
    #expect(date == (try Self.date(start)))
    #expect(office.day(date) == day && office.day(date - 1) != day)
    #expect(office.day(date, offset: 1) > day)
  }

  @Test("The zone has its name in the language of the page")
  func names() throws {
    #expect(
      try Self.office("Europe/Warsaw").zoneName == "czas środkowoeuropejski (Europe/Warsaw)")
    #expect(
      try Self.office("Europe/Warsaw", .english).zoneName
        == "Central European Time (Europe/Warsaw)")
    #expect(try Self.office("UTC").text(try Self.date("2027-01-15T08:15:00Z")).contains("08:15"))
  }
}
