// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings

extension DemonstrationSuite {
  /// Every page of a class of three people, who share a home.
  @Suite("Every page of a class") struct ClassScreenTests {
    /// In all colors, the widths of a small phone and of a desktop.
    private static let displays = EmulatedDisplay.Colors.allCases.flatMap { colors in
      [360, 1280].map { EmulatedDisplay(colors: colors, width: $0) }
    }

    /// In `make test`, each page in one language and display; in `make prove`, in all.
    @Test(
      "In both languages, every color scheme and width, every page passes axe and our checks",
      .timeLimit(.minutes(Patience.minutes)))
    func accessible() async throws {
      let trees = GoldenTrees(
        in: "Tests/WebAppTests/AccessibilityTrees/Class",
        masks: [
          (#"\b[a-z0-9.-]+\.localhost:\d+"#, "HOST"),
          (#"(strong\n\s*text )"[0-9A-Z]{6,8}""#, #"$1"PIN""#),
        ])
      let checks = DisplayChecks()
      var combinations = ScreenCombinations(languages: ["en", "pl"], displays: Self.displays)
      try await ClassTour.play { browser, page in
        for (language, displays) in combinations.next() {
          try await browser.speak(language)
          for violation in try await checks.violations(of: browser, in: displays) {
            Issue.record("\(page), \(language), \(violation)")
          }
          let tree = try await browser.accessibilityTree()
          if let change = trees.difference(tree, at: page, in: language) {
            Issue.record("\(change)")
          }
        }
        try await browser.speak("en")
        // The teacher's page is not for pupils.
        let errors = try await browser.errorLog().filter { !$0.contains("a status of 403") }
        #expect(errors.isEmpty, "\(page): \(errors)")
      }
      for change in trees.finish() { Issue.record("\(change)") }
      #expect(checks.combinations == combinations.count(ofScreens: 10))
    }

    @Test(
      "Writes a picture of every page to the folder in FIREBREAK_SCREENSHOTS",
      .enabled(
        if: Browser.pictureFolder != nil, "set FIREBREAK_SCREENSHOTS, or run `make screenshots`"),
      .timeLimit(.minutes(Patience.minutes)))
    func pictures() async throws {
      try await ClassTour.play { browser, page in
        try await browser.storePictures(as: "class-\(page)")
        guard page == "sheet" else { return }
        try await browser.devTools("Emulation.setEmulatedMedia", ["media": "print"])
        let paper = EmulatedDisplay(width: 680, height: 1_000)
        try Browser.store(
          try await browser.picture(in: paper, scale: 2), as: "class-sheet-print")
      }
    }
  }
}

/// A lesson that stops at each page once.
private enum ClassTour {
  static func play(
    _ visit: (_ browser: Browser, _ page: String) async throws -> Void
  ) async throws {
    try await RunningClass.with(size: 3) { room in
      try await Browser.withRunning { browser in
        try await joinAll(room, browser, visit)
        try await browser.open(room.teacher)
        try await browser.waitForStream()
        try await visit(browser, "teacher-start")
        try await browser.open("http://127.0.0.1:\(room.port)/code")
        try await visit(browser, "code")
        try await outbreak(room, browser, visit)
      }
    }
  }

  private static func joinAll(
    _ room: RunningClass, _ browser: Browser,
    _ visit: (_ browser: Browser, _ page: String) async throws -> Void
  ) async throws {
    try await browser.open("http://127.0.0.1:\(room.port)/teacher")
    try await visit(browser, "no-teacher")
    try await browser.open(room.address(of: 1))
    try await visit(browser, "join")
    for pupil in 1...3 { #expect(try await browser.join(room, as: pupil) == pupil) }
    try await visit(browser, "phone")
    try await browser.open(room.address(of: 4))
    try await visit(browser, "full")
  }

  private static func outbreak(
    _ room: RunningClass, _ browser: Browser,
    _ visit: (_ browser: Browser, _ page: String) async throws -> Void
  ) async throws {
    let teacher = "http://127.0.0.1:\(room.port)/teacher"
    try await browser.open(teacher)
    try await browser.click("#infect")
    let news = try await browser.text("#news p")
    let infected = try #require(
      news.firstMatch(of: /person of phone (\d+) is infected/).flatMap { Int($0.1) })
    let other = infected % 3 + 1
    try await browser.pass("morning", until: "Day 2, 07:00")
    try await browser.pass("morning", until: "Day 3, 07:00")
    try await browser.click("#test-\(infected)")
    try await browser.waitForRow(infected, "positive, PIN not entered")

    try await browser.open(room.address(of: infected))
    try await visit(browser, "phone-positive")
    try await browser.type(try await browser.text(".pin"), into: "#pin")
    try await browser.click("#share")
    #expect(try await browser.text("#upload p").hasPrefix("Your keys are shared."))

    try await browser.open(teacher)
    try await browser.pass("hour", until: "Day 3, 08:00")
    try await browser.open(room.address(of: other))
    try await browser.click("#check")
    try await browser.wait(
      until: "document.querySelector('#notice').textContent.includes('later tested positive')")
    try await visit(browser, "phone-notice")
    try await browser.open(teacher)
    try await browser.waitForRow(other, "notified")
    try await visit(browser, "teacher")
    try await browser.click("a[href='/teacher/sheet']")
    try await visit(browser, "sheet")
  }
}

extension Browser {
  /// Loads the page again in a language.
  fileprivate func speak(_ language: String) async throws {
    try await devTools("Network.enable")
    try await devTools(
      "Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": .string(language)]])
    try await reload()
    try await wait(until: "document.documentElement.lang === a[0]", .string(language))
  }
}
