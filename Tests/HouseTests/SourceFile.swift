import Foundation

/// One file in Swift or C, as text and as code without what comments and strings say.
struct SourceFile {
  /// From the project's root.
  let path: String
  let lines: [String]
  /// The same lines; comments and the content of strings are blanks there.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = text.components(separatedBy: "\n")
    code = CodeReader.code(of: text).components(separatedBy: "\n")
  }

  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The room the file lies in, where it lies under Sources.
  var room: String? {
    let parts = path.split(separator: "/")
    return parts.first == "Sources" && parts.count > 2 ? String(parts[1]) : nil
  }

  var isInC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }

  /// Written by a program from another file, and not for reading.
  var isGenerated: Bool { path.hasSuffix(".pb.swift") }

  /// The lines of code that `pattern` is found in, each with its number.
  func matches(_ pattern: String) -> [(line: Int, text: String)] {
    guard let expression = try? NSRegularExpression(pattern: pattern) else { return [] }
    return code.enumerated().compactMap { index, text in
      let all = NSRange(text.startIndex..., in: text)
      return expression.firstMatch(in: text, range: all) == nil ? nil : (index + 1, text)
    }
  }

  func finding(_ line: Int, _ advice: String) -> Finding {
    Finding(path: path, line: line, advice: advice)
  }
}
