import Foundation

/// Small rooms, one name on each door.
enum FormRule {
  static let linesMax = 400
  static let functionLinesMax = 50
  static let columnsMax = 100
  static let textColumnsMax = 120

  static let junkEndings = [
    "Manager", "Service", "Helper", "Helpers", "Util", "Utils", "Utilities", "Worker", "Impl",
    "Handler", "Common", "Misc",
  ]
  /// Apple's own names.
  static let junkAllowed: Set<String> = ["ENManager", "ENCommon"]

  static func findings(in file: SourceFile) -> [Finding] {
    name(of: file) + length(of: file) + columns(of: file) + functions(of: file)
  }

  static func name(of file: SourceFile) -> [Finding] {
    let stem = file.name.split(separator: ".").first.map(String.init) ?? ""
    let type = stem.split(separator: "+").first.map(String.init) ?? stem
    guard !junkAllowed.contains(type), junkEndings.contains(where: stem.hasSuffix) else {
      return []
    }
    return [file.finding(1, "\(stem) says nothing: name the file after what it holds")]
  }

  static func length(of file: SourceFile) -> [Finding] {
    let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
    guard count > linesMax else { return [] }
    return [file.finding(linesMax + 1, "\(count) lines, \(linesMax) at most: split the file")]
  }

  /// A comment or a string may run on a little: breaking it at a word is worth more than the edge.
  static func columns(of file: SourceFile) -> [Finding] {
    zip(file.lines, file.code).enumerated().filter { _, line in
      let isText = line.0 != line.1
      return line.0.count > (isText ? textColumnsMax : columnsMax)
    }.map { file.finding($0.offset + 1, "more than \(columnsMax) columns: break the line") }
  }

  static func functions(of file: SourceFile) -> [Finding] {
    // In C, what begins at the edge and opens a parenthesis; a prototype and a table have no body.
    let start =
      file.isInC
      ? #"^[A-Za-z][\w *]*\("# : #"(^|\s)(func\s|init[?]?[(<]|subscript[(<]|deinit\s)"#
    return file.matches(start).compactMap { line, _ in
      guard let end = endOfBody(in: file, from: line), end - line + 1 > functionLinesMax else {
        return nil
      }
      let count = end - line + 1
      return file.finding(
        line, "a function of \(count) lines, \(functionLinesMax) at most: give its parts names")
    }
  }

  /// The line of the brace that closes the body which begins on or after `line`; nil where there is
  /// none, as in a protocol.
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

  /// One type a file; extensions are no types.
  static func types(of file: SourceFile) -> [Finding] {
    let words = "public|package|internal|private|fileprivate|open|final|indirect|nonisolated"
    let kinds = "struct|class|enum|actor|protocol"
    let found = file.matches(#"^((\#(words)|@\w+(\([^)]*\))?)\s+)*(\#(kinds))\s+\w"#)
    return found.dropFirst().map {
      file.finding($0.line, "a second type: give it a file of its own, or put it inside the first")
    }
  }
}
