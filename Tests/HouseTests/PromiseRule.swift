// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The tables of Documentation/TestedPromises.md: every row names tests that exist.
enum PromiseRule {
  static let page = "Documentation/TestedPromises.md"

  /// A row: its first cell and the tests or the reason in its second.
  struct Row {
    let line: Int
    let subject: String
    let tests: [String]
    /// True if the row gives a reason, after a dash, instead of tests.
    let hasReason: Bool
  }

  /// The rows of every table under the heading that starts with `heading`.
  static func rows(in text: String, under heading: String) -> [Row] {
    let lines = text.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("## \(heading)") }) else { return [] }
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    return section.enumerated().compactMap { offset, line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard line.hasPrefix("| "), cells.count == 2, !cells[0].hasPrefix("-"), cells[1] != "Tests"
      else { return nil }
      return Row(
        line: start + 2 + offset, subject: cells[0],
        tests: cells[1].matches(of: /`([\w\/.]+)`/).map { String($0.1) },
        hasReason: cells[1].hasPrefix("— "))
    }
  }

  static func violations(in row: Row, tests: [SourceFile]) -> [Violation] {
    if row.tests.isEmpty && !row.hasReason {
      return [Violation(path: page, line: row.line, advice: "name the tests")]
    }
    return row.tests.filter { !exists($0, in: tests) }.map {
      Violation(path: page, line: row.line, advice: "\($0) does not exist: name another test")
    }
  }

  /// `name` is `Target/Suite` or `Target/Suite.function`.
  private static func exists(_ name: String, in tests: [SourceFile]) -> Bool {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 2 else { return false }
    let words = parts[1].split(separator: ".").map(String.init)
    return tests.contains { file in
      guard file.path.hasPrefix("Tests/\(parts[0])/"),
        let suite = file.matches(#"\b(struct|class|extension)\s+\#(words[0])\b"#).first
      else { return false }
      guard words.count == 2 else { return true }
      return file.matches(#"\bfunc \#(words[1])\("#).contains { $0.line > suite.line }
    }
  }
}
