// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

extension ConsoleInBrowser {
  @Suite("Every page of the console") struct ConsolePageTests {
    /// Each language with each color scheme and each width. Contrasts do not depend on the width, and the width of a
    /// page does not depend on the colors, so that two displays are enough for each.
    private static let displays: [ConsoleLanguage: [EmulatedDisplay]] = [
      .english: [EmulatedDisplay(width: 360), EmulatedDisplay(colors: .dark)],
      .polish: [EmulatedDisplay(colors: .dark, width: 360), EmulatedDisplay()],
    ]

    /// Text that is different in each run, in the order of replacement.
    private static let masks: [GoldenTrees.Mask] = [
      (#"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"#, "NUMBER"), (#"\b[0-9a-f]{64}\b"#, "HASH"),
      (#"/start/[\w-]+"#, "/start/TOKEN"), (#"\b([A-Z2-7]{4} ){7}[A-Z2-7]{4}\b"#, "SECRET"),
    ]

    /// In `make test`, each page in one language and display; in `make prove`, in all.
    @Test(
      "In both languages, all colors and widths, every page passes axe and our checks",
      .timeLimit(.minutes(Patience.minutes)))
    func accessible() async throws {
      let trees = GoldenTrees(
        in: "Tests/HealthAuthorityConsoleTests/AccessibilityTrees", masks: Self.masks)
      let checks = DisplayChecks()
      let tours: [(ConsoleLanguage, later: ConsoleLanguage)] =
        Proof.isRunning ? [(.english, .english), (.polish, .polish)] : [(.english, .polish)]
      for (first, later) in tours {
        try await withTour(in: first, later: later) { browser, page in
          let language = try #require(
            ConsoleLanguage(rawValue: try await browser.script(Self.language).string ?? ""))
          let displays = Self.displays[language] ?? []
          let sample = [displays[checks.combinations % displays.count]]
          for violation in try await checks.violations(
            of: browser, in: Proof.isRunning ? displays : sample)
          {
            Issue.record("\(page), \(language.rawValue), \(violation)")
          }
          // The frame is the same on all pages.
          let whole = try await browser.accessibilityTree()
          let tree = page == "home" ? whole : whole.withoutFrame
          if let change = trees.difference(tree, at: page, in: language.rawValue) {
            Issue.record("\(change)")
          }
        }
      }
      for change in trees.finish() { Issue.record("\(change)") }
      #expect(checks.combinations == (Proof.isRunning ? 128 : 32))
    }

    @Test(
      "Writes a picture of every page to the folder in FIREBREAK_SCREENSHOTS",
      .enabled(
        if: Browser.pictureFolder != nil, "set FIREBREAK_SCREENSHOTS, or run `make screenshots`"),
      .timeLimit(.minutes(Patience.minutes)))
    func pictures() async throws {
      try await withTour(in: .english, later: .english) { browser, page in
        try await browser.storePictures(as: "console-\(page)")
        // The documentation shows the window without scrolling.
        try await browser.emulate(EmulatedDisplay(width: 1180, height: 820))
        try Browser.store(try await browser.screenshot(), as: "console-\(page)-window")
      }
    }

    private static let language = "return document.documentElement.lang"

    private func withTour(
      in language: ConsoleLanguage, later: ConsoleLanguage,
      _ stop: @escaping (Browser, _ page: String) async throws -> Void
    ) async throws {
      try await ConsoleVisit.run(
        scripts: true, authority: try .inUse(),
        configure: {
          $0.appAddress = URL(string: "https://app.example/")
          $0.sendsSMS = true
        }
      ) { visit async throws in
        let tour = ConsoleTour(visit: visit) { page in try await stop(visit.browser, page) }
        try await tour.play(in: language, later: later)
        #expect(
          try await visit.browser.errorLog().filter { !$0.contains("the server responded") } == [])
      }
    }
  }
}
