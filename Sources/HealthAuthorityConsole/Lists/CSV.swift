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
    let scalars = text.unicodeScalars
    let all = scalars.first == "\u{FEFF}" ? scalars.dropFirst() : scalars[...]
    let first = all.prefix { !$0.endsLine }
    if String(first.prefix(4)).lowercased() == "sep=", let separator = first.dropFirst(4).first {
      return CSVParser.rows(of: all[first.endIndex...], separator: separator)
    }
    return CSVParser.rows(of: all, separator: separator(of: all))
  }

  /// The sign that most lines have outside of quotation marks, and of those with as many lines the most frequent one. A
  /// blank line or a title before the names of the columns has none, or a single comma.
  private static func separator(of text: Substring.UnicodeScalarView) -> Unicode.Scalar {
    let signs: [Unicode.Scalar] = [",", ";", "\t"]
    var (lines, counts): ([Unicode.Scalar: Int], [Unicode.Scalar: Int]) = ([:], [:])
    var line: Set<Unicode.Scalar> = []
    // A quotation mark opens at the start of a field, and after a closing one, as it stands twice for one.
    var (isQuoted, isStart, hasClosed) = (false, true, false)
    for scalar in text {
      let isMark = scalar == "\"" && (isQuoted || isStart || hasClosed)
      hasClosed = isMark && isQuoted
      if isMark { isQuoted.toggle() }
      isStart = !isQuoted && (scalar.endsLine || signs.contains(scalar))
      guard isStart else { continue }
      if scalar.endsLine {
        line = []
      } else {
        counts[scalar, default: 0] += 1
        if line.insert(scalar).inserted { lines[scalar, default: 0] += 1 }
      }
    }
    func weight(_ sign: Unicode.Scalar) -> (Int, Int) {
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
///
/// Signs are compared as Unicode scalars: a separator that a combining mark follows is another `Character`, and the
/// same sign for every spreadsheet.
private struct CSVParser {
  private let separator: Unicode.Scalar
  /// The line of the next scalar.
  private var line = 1
  /// The line on which the row begins.
  private var start = 1
  private var row: [String] = []
  private var field = String.UnicodeScalarView()
  private var isQuoted = false
  private var rows: [CSV.Row] = []

  static func rows(
    of text: Substring.UnicodeScalarView, separator: Unicode.Scalar
  ) -> [CSV.Row] {
    var parser = CSVParser(separator: separator)
    var rest = text
    while let scalar = rest.popFirst() {
      if parser.isQuoted {
        parser.takeQuoted(scalar, &rest)
      } else {
        parser.take(scalar)
      }
      // A carriage return before a line feed is a part of the same line break.
      if scalar.endsLine, scalar != "\r" || rest.first != "\n" { parser.nextLine() }
    }
    parser.endRow()
    return parser.rows
  }

  private init(separator: Unicode.Scalar) { self.separator = separator }

  private mutating func takeQuoted(
    _ scalar: Unicode.Scalar, _ rest: inout Substring.UnicodeScalarView
  ) {
    if scalar != "\"" {
      field.append(scalar)
    } else if rest.first == "\"" {
      field.append("\"")
      rest.removeFirst()
    } else {
      isQuoted = false
    }
  }

  private mutating func take(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"" where field.isEmpty: isQuoted = true
    case separator: endField()
    case _ where scalar.endsLine: endRow()
    default: field.append(scalar)
    }
  }

  private mutating func nextLine() {
    line += 1
    if row.isEmpty, field.isEmpty, !isQuoted { start = line }
  }

  private mutating func endField() {
    row.append(String(field))
    field = String.UnicodeScalarView()
  }

  private mutating func endRow() {
    endField()
    if !row.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) {
      rows.append(CSV.Row(line: start, fields: row, isClosed: !isQuoted))
    }
    row = []
  }
}

extension Unicode.Scalar {
  /// True for the scalars that end a line in a text.
  fileprivate var endsLine: Bool { Character(self).isNewline }
}
