import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing

extension BrowserSuite {
  @Suite("Every screen of the web app")
  struct ScreenTests {
    private static let languages = ["en", "pl", "de", "uk"]
    /// The widths of a small phone and of a desktop.
    private static let widths = [320, 1280]

    @Test(
      "In every language, color scheme and width, every screen passes axe and our checks",
      .timeLimit(.minutes(Patience.minutes)))
    func accessible() async throws {
      let start = ContinuousClock.now
      // Two tours at once, each with its own phone and browser, take half the time on two cores.
      async let first = pass(through: Array(Self.languages.prefix(2)))
      async let second = pass(through: Array(Self.languages.dropFirst(2)))
      let combinations = try await first + second
      print("\(combinations) combinations of screen and display in \(ContinuousClock.now - start)")
      #expect(combinations > 900)
    }

    /// Checks every screen in some languages, and returns the number of checked combinations.
    private func pass(through languages: [String]) async throws -> Int {
      let trees = GoldenTrees()
      var combinations = 0
      var display = EmulatedDisplay()
      try await withTour { browser, stop in
        for language in languages {
          try await browser.speak(language)
          try await stop.open(browser)
          for colors in EmulatedDisplay.Colors.allCases {
            for width in Self.widths {
              let next = EmulatedDisplay(colors: colors, width: width)
              try await browser.emulate(next, instead: combinations == 0 ? nil : display)
              display = next
              let violations = try await browser.accessibilityViolations()
              let context = "\(stop.name), \(language), \(colors), \(width) px"
              for violation in Set(violations) { Issue.record("\(context): \(violation)") }
              combinations += 1
            }
          }
          // WCAG 3.2.3 and 3.2.6: the way to help is at the same place everywhere.
          let tabs = try await browser.script(Self.tabs)
          #expect(tabs == ["tab-home", "tab-share", "tab-history", "tab-more"], "\(stop.name)")
          trees.compare(try await browser.accessibilityTree(), at: stop, in: language)
          try await stop.close(browser)
        }
      }
      trees.finish(languages: languages)
      return combinations
    }

    @Test(
      "Writes a picture of every screen to the folder in FIREBREAK_SCREENSHOTS",
      .enabled(if: screenshotFolder != nil, "set FIREBREAK_SCREENSHOTS, or run `make screenshots`"),
      .timeLimit(.minutes(Patience.minutes)))
    func pictures() async throws {
      let folder = try #require(Self.screenshotFolder)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try await withTour { browser, stop in
        try await stop.open(browser)
        for (suffix, display, scale) in [
          ("phone", EmulatedDisplay(width: 390, height: 844), 2.0),
          ("phone-dark", EmulatedDisplay(colors: .dark, width: 390, height: 844), 2.0),
          ("desktop", EmulatedDisplay(), 1.0),
        ] {
          try await browser.emulate(display, scale: scale)
          // As high as the page, so that the bar at the bottom of the window is at the bottom of the picture.
          let height = try await browser.script("return document.documentElement.scrollHeight")
          var whole = display
          whole.height = max(display.height, height.int ?? 0)
          try await browser.emulate(whole, scale: scale)
          try await browser.fullScreenshot()
            .write(to: folder.appendingPathComponent("\(stop.name)-\(suffix).png"))
        }
        try await stop.close(browser)
      }
    }

    private static let tabs =
      "return [...document.querySelectorAll('#navigation a')].map(tab => tab.dataset.action)"

    private static let screenshotFolder = ProcessInfo.processInfo
      .environment["FIREBREAK_SCREENSHOTS"].map { URL(fileURLWithPath: $0) }

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

/// The accessibility trees in the folder `AccessibilityTrees`: of every screen in English, and the titles and
/// headings of every screen in each language. With `FIREBREAK_UPDATE_TREES=1` the test writes them.
final class GoldenTrees {
  private static let folder = SharedData.projectRoot
    .appendingPathComponent("Tests/WebAppTests/AccessibilityTrees")
  private static let updates =
    ProcessInfo.processInfo.environment["FIREBREAK_UPDATE_TREES"] == "1"

  /// Screens whose content is different in each run: messages and decoys are sent at random times.
  private static let changing: Set = ["traffic"]

  private var headings: [String: [String]] = [:]

  /// Compares an English tree, and keeps the headings of the others for `finish`.
  func compare(_ tree: AccessibilityTree, at stop: ScreenStop, in language: String) {
    let text = Self.masked(tree.text)
    let titles = text.split(separator: "\n").filter { line in
      line.hasPrefix("document") || line.firstMatch(of: /^\s*heading .* level=1/) != nil
    }.map { $0.trimmingCharacters(in: .whitespaces) }
    headings[language, default: []].append("\(stop.name): " + titles.joined(separator: ", "))
    if language == "en" && !Self.changing.contains(stop.name) {
      Self.check(text, file: "\(stop.name).txt")
    }
  }

  /// Compares the tree of a page that is not a screen of the web app.
  static func compare(_ tree: AccessibilityTree, named name: String) {
    check(masked(tree.text), file: "\(name).txt")
  }

  /// Compares the titles and headings.
  func finish(languages: [String]) {
    for language in languages {
      Self.check(
        headings[language, default: []].joined(separator: "\n") + "\n",
        file: "headings-\(language).txt")
    }
  }

  private static func check(_ text: String, file name: String) {
    let file = folder.appendingPathComponent(name)
    if updates {
      do {
        try Data(text.utf8).write(to: file)
      } catch {
        Issue.record("\(name) cannot be written: \(error)")
      }
      return
    }
    let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let difference = text.split(separator: "\n").difference(from: expected.split(separator: "\n"))
    let changes = difference.map { change in
      switch change {
      case .insert(let line, let text, _): "line \(line + 1) is new: \(text)"
      case .remove(let line, let text, _): "line \(line + 1) is missing: \(text)"
      }
    }
    guard !changes.isEmpty else { return }
    Issue.record(
      """
      The accessibility tree \(name) has changed. If that is intended, run the test with \
      FIREBREAK_UPDATE_TREES=1 and commit the file.
      \(changes.joined(separator: "\n"))
      """)
  }

  /// The text with times, days, sizes, ports and counts of messages replaced, which differ from run to run.
  static func masked(_ text: String) -> String {
    let month =
      "(January|February|March|April|May|June|July|August|September|October|November|December|"
      + "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)"
    let weekday = "((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
    let masks = [
      (#"(127\.0\.0\.1|\b[a-z0-9.-]+\.localhost):\d+"#, "HOST"),
      (#"\b\d{1,2}:\d{2}(:\d{2})?([\s\x{202F}][AP]M)?"#, "TIME"),
      (#"(\#(weekday),? )?(\d{1,2} )?\#(month)( \d{1,2})?(,? \d{4})?"#, "DAY"),
      (#"\b(in \d+ \w+|\d+ \w+ ago)\b"#, "WHEN"),
      // Alone; in a sentence, these words are words.
      (#"(["(]|· )(just now|now|today|yesterday|this minute|tomorrow)([")])"#, "$1WHEN$3"),
      (#"\b[\d.,]+[\s\x{00A0}\x{202F}](bytes?|byte|kB|KB|MB|B)\b"#, "SIZE"),
    ]
    return masks.reduce(text) { text, mask in
      text.replacingOccurrences(of: mask.0, with: mask.1, options: .regularExpression)
    }
  }
}
