// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Limits on the size and the name of a file and of its functions.
enum FormRule {
  static let linesMax = 400
  static let functionLinesMax = 50
  static let columnsMax = 100
  static let textColumnsMax = 120

  static let junkEndings = [
    "Manager", "Service", "Helper", "Helpers", "Util", "Utils", "Utilities", "Worker", "Impl",
    "Common", "Misc",
  ]
  /// Names that Apple chose.
  static let junkAllowed: Set<String> = ["ENManager", "ENCommon", "DCAppAttestService"]

  static func violations(in file: SourceFile) -> [Violation] {
    name(of: file) + length(of: file) + columns(of: file) + functions(of: file)
  }

  static func name(of file: SourceFile) -> [Violation] {
    let stem = file.name.split(separator: ".").first.map(String.init) ?? ""
    let type = stem.split(separator: "+").first.map(String.init) ?? stem
    guard !junkAllowed.contains(type), junkEndings.contains(where: stem.hasSuffix) else {
      return []
    }
    return [file.violation(1, "\(stem) is a vague name: name the file after its content")]
  }

  static func length(of file: SourceFile) -> [Violation] {
    let count = file.lineCount
    guard count > linesMax else { return [] }
    return [file.violation(linesMax + 1, "\(count) lines, \(linesMax) at most: split the file")]
  }

  /// Lines with a comment or a string may be longer, so that text can break between words.
  static func columns(of file: SourceFile) -> [Violation] {
    zip(file.lines, file.code).enumerated().filter { _, line in
      let isText = line.0 != line.1
      return line.0.count > (isText ? textColumnsMax : columnsMax)
    }.map { file.violation($0.offset + 1, "more than \(columnsMax) columns: break the line") }
  }

  static func functions(of file: SourceFile) -> [Violation] {
    // In C, an unindented line with an opening parenthesis; prototypes have no body.
    let start =
      file.isInC
      ? #"^[A-Za-z][\w *]*\("# : #"(^|\s)(func\s|init[?]?[(<]|subscript[(<]|deinit\s)"#
    return file.matches(start).compactMap { line, _ in
      guard let end = endOfBody(in: file, from: line), end - line + 1 > functionLinesMax else {
        return nil
      }
      let count = end - line + 1
      return file.violation(
        line, "a function of \(count) lines, \(functionLinesMax) at most: extract parts of it")
    }
  }

  /// The line of the closing brace of the body that begins on or after `line`; nil if there is no body.
  private static func endOfBody(in file: SourceFile, from line: Int) -> Int? {
    var braces = 0
    var parentheses = 0
    for index in (line - 1)..<file.code.count {
      for character in file.code[index] {
        switch character {
        case ";" where file.isInC && braces == 0: return nil
        case "(", "[": parentheses += 1
        case ")", "]": parentheses -= 1
        case "{" where parentheses <= 0 || braces > 0: braces += 1
        case "}" where parentheses <= 0 || braces > 0:
          braces -= 1
          if braces < 0 { return nil }
          if braces == 0 { return index + 1 }
        default: break
        }
      }
    }
    return nil
  }
}
