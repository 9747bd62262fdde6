// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("Days and times in the web app")
  struct CalendarDayTests {
    /// A moment and a time before it, with the words for the distance in days of the calendar.
    private static let distances: [(zone: String, then: String, now: String, words: String)] = [
      ("Europe/Warsaw", "2026-11-24T20:00:00Z", "2026-11-26T07:00:00Z", "2 days ago"),
      ("Europe/Warsaw", "2026-11-24T23:00:00Z", "2026-11-26T01:00:00Z", "yesterday"),
      ("Europe/Warsaw", "2026-11-25T11:00:00Z", "2026-11-26T22:00:00Z", "yesterday"),
      ("America/Los_Angeles", "2026-11-24T23:00:00Z", "2026-11-26T01:00:00Z", "yesterday"),
      // 25 hours, because summer time ends in between.
      ("Europe/Warsaw", "2026-10-24T21:30:00Z", "2026-10-25T22:30:00Z", "yesterday"),
    ]

    @Test(
      "Distances are days of the calendar, encounters are never tomorrow, and times have a zone",
      .timeLimit(.minutes(Patience.minutes)))
    func calendar() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone, expecting: "welcome")
          for (zone, then, now, words) in Self.distances {
            let answer = try await ask(
              browser, zone, now, "f.relative(Date.parse('\(then)') / 1000)")
            #expect(answer == words, "\(zone): \(then) at \(now)")
          }
          for (zone, span, words) in [
            ("America/Los_Angeles", "4:00 – 7:00 PM PST", "today"), ("UTC", "Thursday", "today"),
            ("Pacific/Kiritimati", "2:00 – 5:00 PM GMT+14", "today"),
          ] {
            let now = "2026-11-26T03:00:00Z"
            let day = try await ask(browser, zone, now, "f.day('2026-11-26')")
            #expect(plain(day).contains(span), "\(zone): \(day)")
            #expect(try await ask(browser, zone, now, "f.daysAgo('2026-11-26')") == words)
            let time = try await ask(browser, zone, now, "f.time(Date.parse('\(now)') / 1000)")
            #expect(
              time.hasSuffix(zone == "UTC" ? "UTC" : String(span.split(separator: " ").last ?? "")))
          }
        }
      }
    }

    /// The value of an expression of the functions `f` of format.js in a time zone at a moment.
    private func ask(
      _ browser: Browser, _ zone: String, _ now: String, _ expression: String
    ) async throws -> String {
      _ = try await browser.devTools(
        "Emulation.setTimezoneOverride", ["timezoneId": .string(zone)])
      let value = try await browser.script(
        """
        const now = Date.parse(arguments[0]) / 1000;
        return Promise.all([import('/app/format.js'), import('/app/store.js')]).then(([f, { store }]) => {
          store.state = { ...store.state, now };
          store.receivedAt = performance.now();
          return \(expression);
        });
        """, .string(now))
      return value.string ?? ""
    }

    /// The text with ordinary spaces.
    private func plain(_ text: String) -> String {
      String(text.map { $0.isWhitespace ? " " : $0 })
    }
  }
}
