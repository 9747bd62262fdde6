// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import TextEncodings

/// A part of a page that violates a rule of accessibility.
public struct AccessibilityViolation: Sendable, Hashable, CustomStringConvertible {
  /// The rule of axe or of `page-checks.js`.
  public let rule: String
  public let selector: String
  public let detail: String

  public var description: String { "\(rule) at \(selector): \(detail)" }
}

extension Browser {
  /// The tags of the axe rules that are checked.
  public static let axeTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

  /// The axe rules whose result depends on colors.
  public static let axeColorRules = ["color-contrast", "link-in-text-block"]

  /// Runs the rules of axe and our own checks on the page as it is now.
  ///
  /// - Parameter onlyColors: Runs only `axeColorRules` and our own checks, for a page that has changed only its colors
  ///   since all rules were run.
  public func accessibilityViolations(
    onlyColors: Bool = false
  ) async throws -> [AccessibilityViolation] {
    try await axeViolations(onlyColors: onlyColors) + pageViolations()
  }

  /// The violations that axe finds.
  ///
  /// - Throws: An error if `make prepare-tests` has not installed it.
  public func axeViolations(onlyColors: Bool = false) async throws -> [AccessibilityViolation] {
    let run = """
      if (!window.axe && !window.\(Self.axeLoader)) return null;
      if (!window.axe) window.\(Self.axeLoader)();
      const [tags, colorRules, onlyColors] = arguments;
      // In forced colors, axe reads the colors of the style sheet; our checks read the forced ones.
      const isForced = matchMedia('(forced-colors: active)').matches;
      const runOnly = onlyColors
        ? { type: 'rule', values: colorRules.filter(rule => !isForced || rule !== 'color-contrast') }
        : { type: 'tag', values: tags };
      return axe.run(document, {
        runOnly, resultTypes: ['violations'], rules: { 'color-contrast': { enabled: !isForced } },
      }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(node => ({
        rule: 'axe ' + id, selector: node.target.join(' '),
        detail: node.failureSummary.split('\\n').slice(1, 3).join(' ').trim(),
      }))));
      """
    let tags = JSONValue.array(Self.axeTags.map(JSONValue.string))
    let colorRules = JSONValue.array(Self.axeColorRules.map(JSONValue.string))
    var result = try await script(run, tags, colorRules, .bool(onlyColors))
    if result == .null {
      try await addAxeLoader()
      result = try await script(run, tags, colorRules, .bool(onlyColors))
    }
    // No result is not a result without violations.
    guard result != .null else { throw AxeNotLoaded() }
    return result.elements.map(AccessibilityViolation.init)
  }

  /// A function of the page that defines `axe`.
  static let axeLoader = "firebreakLoadAxe"

  /// Defines the function on this page and on all pages that are opened from now on. Axe is half a megabyte: to send it
  /// for each page, and to compile it on pages that are not checked, would take up to half of the time of a check.
  private func addAxeLoader() async throws {
    let source = "window.\(Self.axeLoader) = function () {\n\(try BrowserScript.axe.text())\n};"
    try await devTools(
      "Page.addScriptToEvaluateOnNewDocument",
      ["source": .string(source), "runImmediately": true])
    let isThere = try await script("return typeof window.\(Self.axeLoader) === 'function'")
    // Where the scripts of pages are forbidden, only commands of tests run.
    if isThere != true { try await script(source) }
  }

  /// The violations of our own checks: criteria of WCAG 2.2 that axe does not check, or only in part.
  public func pageViolations() async throws -> [AccessibilityViolation] {
    try await script(try BrowserScript.pageChecks.text()).elements.map(AccessibilityViolation.init)
  }
}

/// Checks a page in several displays without loading it again, and counts the checks.
public final class DisplayChecks {
  public private(set) var combinations = 0
  /// The width in which a tour goes from screen to screen, and trees are compared.
  private static let tourWidth = 1280

  public init() {}

  /// The violations of the page as it is now, each with its display. The colors of the last one stay.
  ///
  /// All rules of axe run once per width, those about colors in every display.
  public func violations(
    of browser: Browser, in displays: [EmulatedDisplay]
  ) async throws -> [String] {
    var violations: [String] = []
    var before: EmulatedDisplay?
    var checkedWidths: Set<Int> = []
    for display in displays {
      try await browser.emulate(display, instead: before)
      before = display
      combinations += 1
      let isFirst = checkedWidths.insert(display.width).inserted
      let found = Set(try await browser.accessibilityViolations(onlyColors: !isFirst))
      violations += found.map { "\(display.colors), \(display.width) px: \($0)" }
    }
    // The tour goes on in a wide window: WebDriver scrolls a button below the tab bar of a narrow one.
    if let last = before, last.width < Self.tourWidth {
      let wide = EmulatedDisplay(colors: last.colors, width: Self.tourWidth)
      try await browser.emulate(wide, instead: last)
    }
    return violations
  }
}

extension AccessibilityViolation {
  init(_ value: JSONValue) {
    self.init(
      rule: value["rule"].string ?? "", selector: value["selector"].string ?? "",
      detail: value["detail"].string ?? "")
  }
}

/// A script of the tests, as a file.
enum BrowserScript: String {
  case axe = ".build/test-packages/axe_playwright_python/axe.min.js"
  case pageChecks = "Tests/Browser/Scripts/page-checks.js"
  /// Starts Chromium.
  case chromium = "Tests/Browser/Scripts/chromium"

  var url: URL { SharedData.projectRoot.appendingPathComponent(rawValue) }

  func text() throws -> String {
    do {
      return try String(contentsOf: url, encoding: .utf8)
    } catch {
      throw BrowserScriptMissing(path: rawValue)
    }
  }
}

/// A script that a check needs is not there.
struct BrowserScriptMissing: Error, CustomStringConvertible {
  let path: String

  var description: String { "\(path) is missing: run `make prepare-tests`" }
}

/// The page has no axe although its loader was added: it was loaded again, or forbids scripts.
struct AxeNotLoaded: Error, CustomStringConvertible {
  var description: String { "axe is not on the page: it was loaded again during the check" }
}
