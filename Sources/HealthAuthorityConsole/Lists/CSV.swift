// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReportFormats

/// Values separated by commas (RFC 4180), semicolons or tabs, as spreadsheets read and write them.
enum CSV {
  /// A row, and the line of the text on which it begins, from 1 on.
  struct Row: Hashable, Sendable {
    let line: Int
    let fields: [String]
    /// False if a quotation mark of the row is not closed before the end of the text.
    var isClosed = true
  }

  /// The fields of the rows of `text`; rows without any text are left out.
  static func fields(_ text: String) -> [[String]] { rows(text).map(\.fields) }

  /// The rows of `text`; those without any text are left out. The separator is the sign that most lines have, or that
  /// of a line `sep=;`, which some spreadsheets write.
  static func rows(_ text: String) -> [Row] {
    let text = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    let first = text.prefix { !$0.isNewline }
    if first.lowercased().hasPrefix("sep="), let separator = first.dropFirst(4).first {
      var parser = CSVParser(separator: separator, line: 1)
      return parser.rows(of: text.dropFirst(first.count))
    }
    var parser = CSVParser(separator: separator(of: text), line: 1)
    return parser.rows(of: text[...])
  }

  /// The sign that most lines have outside of quotation marks, and of those with as many lines the most frequent one. A
  /// blank line or a title before the names of the columns has none, or a single comma.
  private static func separator(of text: String) -> Character {
    let signs: [Character] = [",", ";", "\t"]
    var (lines, counts): ([Character: Int], [Character: Int]) = ([:], [:])
    var line: Set<Character> = []
    // A quotation mark opens at the start of a field, and after a closing one, as it stands twice for one.
    var (isQuoted, isStart, hasClosed) = (false, true, false)
    for character in text {
      let isMark = character == "\"" && (isQuoted || isStart || hasClosed)
      hasClosed = isMark && isQuoted
      if isMark { isQuoted.toggle() }
      isStart = !isQuoted && (character.isNewline || signs.contains(character))
      guard isStart else { continue }
      if character.isNewline {
        line = []
      } else {
        counts[character, default: 0] += 1
        if line.insert(character).inserted { lines[character, default: 0] += 1 }
      }
    }
    func weight(_ sign: Character) -> (Int, Int) {
      (lines[sign, default: 0], counts[sign, default: 0])
    }
    return signs.max { weight($0) < weight($1) } ?? ","
  }

  /// The separator that spreadsheets of a language expect: the comma is the decimal sign of Polish.
  static func separator(for language: ConsoleLanguage) -> String {
    language == .polish ? ";" : ","
  }

  /// The text of `rows` for a spreadsheet, with a byte order mark, without which Excel does not read UTF-8. An
  /// apostrophe precedes each character with which a spreadsheet could begin a formula.
  static func text(_ rows: [[String]], separator: String = ",") -> String {
    "\u{FEFF}"
      + rows.map { row in
        row.map { CSVText.field(withoutFormulas($0), separators: ",;\t") }
          .joined(separator: separator) + "\r\n"
      }.joined()
  }

  /// Spreadsheets of some countries separate fields at semicolons or tabs, even inside our quotation marks, and ignore
  /// white space and invisible characters at the start of a field. So a formula can begin after any of them.
  private static func withoutFormulas(_ field: String) -> String {
    var (text, isStart) = ("", true)
    for scalar in field.unicodeScalars {
      if isStart, isFormulaSign(scalar) { text.append("'") }
      text.unicodeScalars.append(scalar)
      if separators.contains(scalar) {
        isStart = true
      } else if !isSkipped(scalar) {
        isStart = false
      }
    }
    return text
  }

  private static let separators = CharacterSet(charactersIn: ",;|\t\"").union(.newlines)

  /// The signs in all their widths: `=`, `+`, `-` and `@`.
  private static func isFormulaSign(_ scalar: Unicode.Scalar) -> Bool {
    let narrow = String(scalar).precomposedStringWithCompatibilityMapping
    return ["=", "+", "-", "@", "\u{2212}", "\u{2010}", "\u{2011}"].contains(narrow)
  }

  private static func isSkipped(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
      || [.control, .format].contains(scalar.properties.generalCategory)
  }
}

/// Splits a text at its separators and line breaks, outside of quotation marks.
private struct CSVParser {
  let separator: Character
  /// The line of the next character.
  var line: Int
  private var start = 1
  private var row: [String] = []
  private var field = ""
  private var isQuoted = false
  private var rows: [CSV.Row] = []

  init(separator: Character, line: Int) {
    self.separator = separator
    self.line = line
    start = line
  }

  mutating func rows(of text: Substring) -> [CSV.Row] {
    var rest = text
    while let character = rest.popFirst() {
      if isQuoted {
        takeQuoted(character, &rest)
      } else {
        take(character)
      }
      if character.isNewline { nextLine() }
    }
    endRow()
    return rows
  }

  private mutating func takeQuoted(_ character: Character, _ rest: inout Substring) {
    if character != "\"" {
      field.append(character)
    } else if rest.first == "\"" {
      field.append("\"")
      rest.removeFirst()
    } else {
      isQuoted = false
    }
  }

  private mutating func take(_ character: Character) {
    switch character {
    case "\"" where field.isEmpty: isQuoted = true
    case separator:
      row.append(field)
      field = ""
    case _ where character.isNewline: endRow()
    default: field.append(character)
    }
  }

  private mutating func nextLine() {
    line += 1
    if row.isEmpty, field.isEmpty, !isQuoted { start = line }
  }

  private mutating func endRow() {
    row.append(field)
    if !row.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) {
      rows.append(CSV.Row(line: start, fields: row, isClosed: !isQuoted))
    }
    (row, field) = ([], "")
  }
}
