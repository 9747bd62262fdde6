// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Checks that every `try?` has a comment: it ignores an error, and the reason is not in the code.
///
/// The comment is on the same line, or directly above that line or an earlier one of the same statement.
enum IgnoredErrorRule {
  static func violations(in file: SourceFile) -> [Violation] {
    file.matches(#"\btry\?"#).map { $0.line - 1 }.filter { !hasComment(file, $0) }.map {
      file.violation(
        $0 + 1, "try? ignores an error: handle it, or give the reason in a comment above")
    }
  }

  private static func hasComment(_ file: SourceFile, _ index: Int) -> Bool {
    if hasTrailingComment(file.lines[index], code: file.code[index]) { return true }
    var index = index
    while index > 0 {
      if file.lines[index - 1].trimmed.hasPrefix("//") { return true }
      guard isContinuation(file.code[index].trimmed, of: file.code[index - 1].trimmed) else {
        return false
      }
      index -= 1
    }
    return false
  }

  /// True if `line` ends with a comment, which is blank in `code`.
  private static func hasTrailingComment(_ line: String, code: String) -> Bool {
    let end = code.utf8.reversed().drop { $0 == UInt8(ascii: " ") }.count
    return String(decoding: line.utf8.dropFirst(end), as: UTF8.self).trimmed.hasPrefix("//")
  }

  /// True if `line` belongs to the statement of the line above.
  private static func isContinuation(_ line: String, of above: String) -> Bool {
    let words: Set<String> = ["guard", "if", "while", "return", "else"]
    guard let first = line.first, let last = above.last else { return false }
    return ",([=:&|+?".contains(last) || words.contains(above) || ".?+&|=".contains(first)
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
