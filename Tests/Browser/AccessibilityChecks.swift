import Foundation
import TestSupport

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

  /// Runs the rules of axe and our own checks on the page as it is now.
  public func accessibilityViolations() async throws -> [AccessibilityViolation] {
    try await axeViolations() + pageViolations()
  }

  /// The violations that axe finds.
  ///
  /// - Throws: An error if `make prepare-tests` has not installed it.
  public func axeViolations() async throws -> [AccessibilityViolation] {
    let run = """
      if (!window.axe) return null;
      return axe.run(document, {
        runOnly: { type: 'tag', values: arguments[0] }, resultTypes: ['violations'],
        // In forced colors, axe reads the colors of the style sheet; our checks read the forced ones.
        rules: { 'color-contrast': { enabled: !matchMedia('(forced-colors: active)').matches } },
      }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(node => ({
        rule: 'axe ' + id, selector: node.target.join(' '),
        detail: node.failureSummary.split('\\n').slice(1, 3).join(' ').trim(),
      }))));
      """
    let tags = JSONValue.array(Self.axeTags.map(JSONValue.string))
    var result = try await script(run, tags)
    if result == .null {
      try await script(try BrowserScript.axe.text())
      result = try await script(run, tags)
    }
    return result.array.map(AccessibilityViolation.init)
  }

  /// The violations of our own checks: criteria of WCAG 2.2 that axe does not check, or only in part.
  public func pageViolations() async throws -> [AccessibilityViolation] {
    try await script(try BrowserScript.pageChecks.text()).array.map(AccessibilityViolation.init)
  }
}

/// Checks a page in several displays without loading it again, and counts the checks.
public final class DisplayChecks {
  public private(set) var combinations = 0

  public init() {}

  /// The violations of the page as it is now, each with its display. The last display stays.
  public func violations(
    of browser: Browser, in displays: [EmulatedDisplay]
  ) async throws -> [String] {
    var violations: [String] = []
    var before: EmulatedDisplay?
    for display in displays {
      try await browser.emulate(display, instead: before)
      before = display
      combinations += 1
      let found = Set(try await browser.accessibilityViolations())
      violations += found.map { "\(display.colors), \(display.width) px: \($0)" }
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
