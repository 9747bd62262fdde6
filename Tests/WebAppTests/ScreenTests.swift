// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("Every screen of the web app")
  struct ScreenTests {
    private static let languages = ["en", "pl", "de", "uk"]
    /// In all colors, the widths of a small phone and of a desktop.
    private static let displays = EmulatedDisplay.Colors.allCases.flatMap { colors in
      [320, 1280].map { EmulatedDisplay(colors: colors, width: $0) }
    }

    /// In `make test`, each screen in one language and display; in `make prove`, in all.
    @Test(
      "In every language, color scheme and width, every screen passes axe and our checks",
      .timeLimit(.minutes(Patience.minutes)))
    func accessible() async throws {
      guard Proof.isRunning else { return try await pass(in: Self.languages) }
      // Two tours at once, each with its own phone and browser, take half the time on two cores.
      async let first: Void = pass(in: Array(Self.languages.prefix(2)))
      async let second: Void = pass(in: Array(Self.languages.dropFirst(2)))
      _ = try await (first, second)
    }

    /// Checks every screen in some languages.
    private func pass(in languages: [String]) async throws {
      let trees = GoldenTrees(
        in: "Tests/WebAppTests/AccessibilityTrees",
        // Messages and decoys are sent at random times.
        changing: ["traffic"])
      let checks = DisplayChecks()
      var combinations = ScreenCombinations(languages: languages, displays: Self.displays)
      try await withTour { browser, stop in
        for (language, displays) in combinations.next() {
          try await browser.speak(language)
          try await stop.open(browser)
          let violations = try await checks.violations(of: browser, in: displays)
          for violation in violations {
            Issue.record("\(stop.name), \(language), \(violation)")
          }
          // WCAG 3.2.3 and 3.2.6: the way to help is at the same place everywhere.
          let tabs = try await browser.script(Self.tabs)
          #expect(tabs == ["tab-home", "tab-share", "tab-history", "tab-more"], "\(stop.name)")
          let tree = try await browser.idleTree()
          if let change = trees.difference(tree, at: stop.name, in: language) {
            Issue.record("\(change)")
          }
          try await stop.close(browser)
        }
      }
      for change in trees.finish() { Issue.record("\(change)") }
      #expect(checks.combinations == combinations.count(ofScreens: 39))
    }

    @Test(
      "Writes a picture of every screen to the folder in FIREBREAK_SCREENSHOTS",
      .enabled(
        if: Browser.pictureFolder != nil, "set FIREBREAK_SCREENSHOTS, or run `make screenshots`"),
      .timeLimit(.minutes(Patience.minutes)))
    func pictures() async throws {
      try await withTour { browser, stop in
        try await stop.open(browser)
        try await browser.storePictures(as: stop.name)
        try await stop.close(browser)
      }
    }

    private static let tabs =
      "return [...document.querySelectorAll('#navigation a')].map(tab => tab.dataset.action)"

    private func withTour(
      _ visit: @escaping (Browser, ScreenStop) async throws -> Void
    ) async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          let tour = ScreenTour(browser: browser, scene: scene) { stop in
            try await visit(browser, stop)
          }
          try await tour.play(on: phone)
        }
      }
    }
  }
}

extension Browser {
  /// Changes the language of the phone, and waits until the screen has it.
  fileprivate func speak(_ language: String) async throws {
    try await message(1010, ["language": .string(language)])
    try await wait(
      until: """
        document.documentElement.lang === a[0]
          && !document.getElementById('main').hasAttribute('aria-busy')
        """, .string(language))
  }
}

extension Browser {
  /// The accessibility tree of a screen that is not being drawn. Screens draw themselves again every minute, and are
  /// busy until the phone has answered.
  fileprivate func idleTree() async throws -> AccessibilityTree {
    var tree = try await accessibilityTree()
    try await Patience.until {
      guard tree.text.contains("main busy") else { return true }
      tree = try await accessibilityTree()
      return false
    }
    return tree
  }
}
