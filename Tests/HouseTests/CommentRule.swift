import Foundation

/// Every public and package declaration says what it is.
enum CommentRule {
  /// What a conformance demands needs no comment of its own: the protocol has it.
  static let witnesses: Set<String> = [
    "description", "debugDescription", "customMirror", "hash", "encode", "from", "errorDescription",
    "localizedDescription", "errorUserInfo", "errorCode", "errorDomain", "rawValue", "id", "next",
    "makeAsyncIterator", "Element", "AsyncIterator", "run", "body", "configuration",
  ]

  static func findings(in file: SourceFile, requirements: Set<String>) -> [Finding] {
    let exempt = conformingExtensionLines(of: file)
    return file.matches(declaration).compactMap { line, text in
      if exempt.contains(line) || text.contains("override ") { return nil }
      guard let name = name(in: text), !witnesses.contains(name), !requirements.contains(name),
        !hasComment(file, above: line)
      else { return nil }
      return file.finding(line, "\(name) has no /// comment: say what it is, its unit, its errors")
    }
  }

  /// The names that protocols of ours demand.
  static func requirements(in files: [SourceFile]) -> Set<String> {
    var names: Set<String> = []
    for file in files {
      var depth = 0
      var inside: Int?
      for text in file.code {
        if inside == nil,
          text.range(of: #"(^|\s)protocol\s+\w"#, options: .regularExpression) != nil
        {
          inside = depth
        }
        if inside != nil, let name = name(in: text) { names.insert(name) }
        depth += text.filter { $0 == "{" }.count - text.filter { $0 == "}" }.count
        if let start = inside, depth <= start, text.contains("}") { inside = nil }
      }
    }
    return names
  }

  private static let declaration =
    #"^\s*(@\w+(\([^)]*\))?\s+)*(public|package|open)\s(?!import)(?!extension)"#

  private static func name(in text: String) -> String? {
    let expression =
      #/
      \b (?: struct|class|enum|actor|protocol|func|var|let|typealias|case|associatedtype) \s+
      ( `?\w+`? | [=<>+\-*\/!&|^~%]+ )
      /#
    if let match = text.matches(of: expression).last(where: { $0.1 != "func" && $0.1 != "var" }) {
      let name = String(match.1)
      return name.contains(where: \.isLetter) ? name : nil
    }
    if text.contains("init(from decoder") { return nil }
    if text.firstMatch(of: #/\binit[?]?[(<]/#) != nil { return "init" }
    return text.firstMatch(of: #/\bsubscript[(<]/#) != nil ? "subscript" : nil
  }

  private static func hasComment(_ file: SourceFile, above line: Int) -> Bool {
    var index = line - 2
    while index >= 0 {
      let text = file.lines[index].trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("///") { return true }
      guard text.hasPrefix("@") || text.hasPrefix(")") else { return false }
      index -= 1
    }
    return false
  }

  /// The lines inside extensions that add a conformance.
  private static func conformingExtensionLines(of file: SourceFile) -> Set<Int> {
    var lines: Set<Int> = []
    var isInside = false
    for (index, text) in file.code.enumerated() {
      if text.range(of: #"^(\w+\s+)?extension\s+[\w.]+\s*:"#, options: .regularExpression) != nil {
        isInside = true
      }
      if isInside { lines.insert(index + 1) }
      if text.hasPrefix("}") || (isInside && text.hasPrefix("extension") && text.hasSuffix("}")) {
        isInside = false
      }
    }
    return lines
  }
}
