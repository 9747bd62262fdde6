import Foundation

/// What a comment cites exists: the document, and the paragraph in it.
enum CitationRule {
  static func findings(in file: SourceFile, text: (String) -> String?) -> [Finding] {
    file.lines.enumerated().flatMap { index, line in
      citations(in: line).compactMap { document, paragraph in
        guard let content = text("Documentation/\(document).md") else {
          return file.finding(index + 1, "Documentation/\(document).md does not exist: write it")
        }
        guard let paragraph, !has(paragraph, in: content) else { return nil }
        return file.finding(
          index + 1, "Documentation/\(document).md has no paragraph \(paragraph): cite another")
      }
    }
  }

  static func citations(in line: String) -> [(document: String, paragraph: String?)] {
    line.matches(of: #/Documentation/([\w\-/]+)\.md(?:,?\s+(\d+(?:\.\d+)*))?/#).map {
      (String($0.1), $0.2.map(String.init))
    }
  }

  private static func has(_ paragraph: String, in content: String) -> Bool {
    content.split(separator: "\n").contains { line in
      let text = line.drop { $0 == "#" || $0 == " " || $0 == "*" || $0 == "|" }
      guard text.hasPrefix(paragraph) else { return false }
      let rest = text.dropFirst(paragraph.count)
      // `3`, `3.`, `3. Title` and `3.1 text` are all paragraph 3.
      return rest.first.map { !$0.isNumber } ?? true
    }
  }
}
