// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings

extension DemonstrationSuite {
  /// The pages of `firebreak up --class`, with real phones and servers.
  @Suite("A class in a browser") struct ClassPageTests {
    @Test(
      "Of many pages, one is diagnosed; the teacher's page shows who was notified, who was missed, and why",
      .timeLimit(.minutes(Patience.minutes)))
    func lesson() async throws {
      // A full class in `make prove`; two homes in `make test`.
      let size = Proof.isRunning ? 40 : 6
      try await RunningClass.with(size: size) { room in
        try await Browser.withRunning { browser in
          let lesson = try await ClassLesson(room, browser)
          try await lesson.join(size)
          try await lesson.interrupt()
          let infected = try await lesson.infect()
          // Three people share a home, and meet there in the first night.
          let home = lesson.home(of: infected)
          try await lesson.switchOff(home[1])
          try await browser.use(lesson.teacher)
          try await browser.pass("morning", until: "Day 2, 07:00")
          try await browser.pass("morning", until: "Day 3, 07:00")
          try await browser.waitForRow(home[0], "missed: the infectious person has not been tested")
          try await browser.waitForRow(home[1], "missed: one of the two phones was off")

          let pin = try await lesson.diagnose(infected)
          try await browser.waitForRow(home[0], "missed: the diagnosed person has not entered")
          try await lesson.share(pin, on: infected)
          try await browser.waitForRow(infected, "positive, keys shared")
          try await browser.waitForRow(home[0], "missed: the keys are not published yet")
          try await browser.pass("hour", until: "Day 3, 08:00")
          try await browser.waitForRow(home[0], "missed: the phone has not downloaded the keys")
          try await lesson.check(home[0])
          try await browser.waitForRow(home[0], "notified")
          try await browser.wait(
            until: "document.querySelector('#summary').textContent.includes(a[0])",
            "Exposed and notified")
          #expect(try await browser.errorLog().isEmpty)
          try await lesson.requireSheet(notified: home[0], missed: home[1])
        }
      }
    }
  }
}

/// A lesson in one browser: a tab for the teacher, and one for each pupil.
private final class ClassLesson {
  let teacher: Browser.Tab
  private let room: RunningClass
  private let browser: Browser
  private var pupils: [Browser.Tab] = []

  init(_ room: RunningClass, _ browser: Browser) async throws {
    (self.room, self.browser) = (room, browser)
    try await browser.open(room.teacher)
    try await browser.waitForStream()
    #expect(try await !browser.address().contains("secret"))
    teacher = try await browser.tab()
  }

  /// Opens pages until the class is full; one more is refused.
  func join(_ count: Int) async throws {
    for pupil in 1...count {
      pupils.append(try await browser.newTab())
      #expect(try await browser.join(room, as: pupil) == pupil)
    }
    _ = try await browser.newTab()
    try await browser.open(room.address(of: count + 1))
    #expect(try await browser.text("h1") == "This class is full")
    #expect(try await browser.text("[role=alert]").contains("All \(count) phones are taken."))
    #expect(try await browser.count("#join") == 0)
    try await browser.closeTab(thenUse: teacher)
    try await browser.wait(
      until: "document.querySelector('#joined').textContent.includes(a[0])",
      .string("Phones taken: \(count) of \(count). Pages open: \(count)."))
  }

  /// One page is closed and opened again; another one loses its connection for a while.
  func interrupt() async throws {
    let (closed, offline) = (pupils.count - 1, pupils.count)
    try await browser.use(pupils[closed - 1])
    try await browser.closeTab(thenUse: teacher)
    try await browser.waitForRow(closed, "page closed")
    pupils[closed - 1] = try await browser.newTab()
    try await browser.open(room.address(of: closed))
    #expect(try await browser.phoneNumber() == closed)

    try await browser.use(pupils[offline - 1])
    try await browser.setOffline(true)
    try await browser.wait(
      until: "document.getElementById('connection').textContent.startsWith(a[0])",
      "Connection lost. Your place is kept")
    try await browser.setOffline(false)
    try await browser.wait(until: "document.getElementById('connection').textContent === ''")
    #expect(try await browser.phoneNumber() == offline)
    // The browser logs each request without a network.
    _ = try await browser.errorLog()
    try await browser.use(teacher)
    try await browser.wait(
      until: "document.querySelector('#joined').textContent.includes(a[0])",
      .string("Pages open: \(pupils.count)."))
  }

  /// Infects one person, and returns the number of the phone.
  func infect() async throws -> Int {
    try await browser.click("#infect")
    let news = try await browser.text("#news p")
    return try #require(
      news.firstMatch(of: /person of phone (\d+) is infected/).flatMap { Int($0.1) })
  }

  /// The phones of the two people who share the home of a person.
  func home(of phone: Int) -> [Int] {
    let first = (phone - 1) / 3 * 3 + 1
    return (first...first + 2).filter { $0 != phone && $0 <= pupils.count }
  }

  func switchOff(_ phone: Int) async throws {
    try await browser.use(pupils[phone - 1])
    try await browser.click("#power")
    try await browser.wait(
      until: "document.querySelector('#engine dd').textContent.startsWith('Off')")
  }

  /// Tests a person who feels ill, and returns the PIN on their page.
  func diagnose(_ phone: Int) async throws -> String {
    try await browser.use(pupils[phone - 1])
    try await browser.wait(
      until: "document.querySelector('#body').textContent.includes('You feel ill')")
    try await browser.use(teacher)
    try await browser.click("#test-\(phone)")
    try await browser.waitForRow(phone, "positive, PIN not entered")
    try await browser.use(pupils[phone - 1])
    let pin = try await browser.text(".pin")
    try await browser.use(teacher)
    #expect(try await !browser.text("main").contains(pin))
    return pin
  }

  func share(_ pin: String, on phone: Int) async throws {
    try await browser.use(pupils[phone - 1])
    try await browser.type(pin.lowercased(), into: "#pin")
    try await browser.click("#share")
    #expect(try await browser.text("#upload p").hasPrefix("Your keys are shared."))
    try await browser.use(teacher)
  }

  /// Lets a phone check for keys, and waits for its notice.
  func check(_ phone: Int) async throws {
    try await browser.use(pupils[phone - 1])
    #expect(try await browser.text("#notice").contains("no notice for you"))
    try await browser.click("#check")
    try await browser.wait(
      until: "document.querySelector('#notice').textContent.includes('later tested positive')")
    try await browser.use(teacher)
  }

  /// The sheet has the outcome of two people.
  func requireSheet(notified: Int, missed: Int) async throws {
    try await browser.click("a[href='/teacher/sheet']")
    let sheet = try await browser.text("main")
    #expect(sheet.contains("Phones: \(pupils.count). Simulated days: 3."))
    for (phone, outcome) in [
      (notified, "notified"), (missed, "missed: one of the two phones was off"),
    ] {
      let row = try await browser.script(
        "return document.querySelector(`[data-phone='${arguments[0]}']`).textContent",
        .number(Double(phone)))
      #expect(row.string?.hasSuffix(outcome) == true, "\(row)")
    }
  }
}
