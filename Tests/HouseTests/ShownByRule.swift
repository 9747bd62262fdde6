import Foundation

/// Holds the tables of Documentation/ShownBy.md to the tests: every test that a row names exists, and
/// says in its name or its suite's which section it shows.
enum ShownByRule {
  static let page = "Documentation/ShownBy.md"

  /// One row of a table: what is in its first cell, and the tests that it names.
  struct Row {
    let line: Int
    let subject: String
    let tests: [String]
    /// Why there is none to name.
    let excuse: String?
  }

  /// The rows of the table that stands below the heading which begins with `heading`.
  static func rows(in text: String, under heading: String) -> [Row] {
    let lines = text.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("## \(heading)") }) else { return [] }
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    return section.enumerated().compactMap { offset, line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard line.hasPrefix("| "), cells.count == 2, !cells[0].hasPrefix("-"),
        cells[1] != "shown by"
      else { return nil }
      let tests = cells[1].matches(of: /`([\w\/.]+)`/).map { String($0.1) }
      return Row(
        line: start + 2 + offset, subject: cells[0], tests: tests,
        excuse: cells[1].hasPrefix("— ") ? cells[1] : nil)
    }
  }

  /// What is wrong with `row`, whose tests have to name `section` of `reference` where there is one.
  static func findings(
    in row: Row, section: String?, of reference: Reference = .servers, tests: [SourceFile]
  ) -> [Finding] {
    if row.tests.isEmpty && row.excuse == nil { return [finding(row, "name the tests")] }
    return row.tests.compactMap { name in
      guard let titles = titles(of: name, in: tests) else {
        return finding(row, "\(name) does not exist: name another test")
      }
      guard let section, !titles.contains(where: { reference.shown(by: $0).contains(section) })
      else { return nil }
      return finding(row, "say \(section) of \(reference) in the name of \(name)")
    }
  }

  /// The titles of the test `Target/Suite.function`, or of the suite where no function is named; nil where
  /// there is none.
  private static func titles(of name: String, in tests: [SourceFile]) -> [String]? {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 2 else { return nil }
    let words = parts[1].split(separator: ".").map(String.init)
    for file in tests where file.path.hasPrefix("Tests/\(parts[0])/") {
      guard let suite = file.firstLine(matching: #"\bstruct \#(words[0])\b"#) else { continue }
      let titles = file.title(above: suite, attribute: "@Suite")
      guard words.count == 2 else { return titles }
      guard let test = file.firstLine(matching: #"\bfunc \#(words[1])\("#, from: suite) else {
        return nil
      }
      let own = file.title(above: test, attribute: "@Test")
      return own.isEmpty ? nil : titles + own
    }
    return nil
  }

  private static func finding(_ row: Row, _ advice: String) -> Finding {
    Finding(path: page, line: row.line, advice: advice)
  }
}

extension SourceFile {
  /// The first line of code, from `line` on, in which `pattern` is found.
  fileprivate func firstLine(matching pattern: String, from line: Int = 1) -> Int? {
    matches(pattern).map(\.line).first { $0 >= line }
  }

  /// What stands between the nearest `attribute` above `line` and that line, as one text; nothing where
  /// another declaration lies between.
  fileprivate func title(above line: Int, attribute: String) -> [String] {
    for index in stride(from: line - 1, through: max(0, line - 120), by: -1) {
      let isDeclaration = code[index].firstMatch(of: /\b(func|struct)\b/) != nil
      guard index == line - 1 || !isDeclaration else { return [] }
      if code[index].contains(attribute) {
        return [lines[index..<line].joined(separator: " ")]
      }
    }
    return []
  }
}
