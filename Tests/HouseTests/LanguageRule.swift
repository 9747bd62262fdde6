// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Checks the wording of comments: openings of doc comments, and words that engineers do not use in them.
enum LanguageRule {
  /// Words with which a sentence of a doc comment must not start: they lead to riddles instead of definitions.
  static let bannedOpenings: Set<String> = ["What", "Whether", "Who", "Whose", "How"]
  static let bannedWords: Set<String> = ["whoever", "nobody", "somebody", "anew"]

  static func violations(in file: SourceFile) -> [Violation] {
    openings(in: file) + words(in: file)
  }

  private static func openings(in file: SourceFile) -> [Violation] {
    file.lines.indices.compactMap { index in
      guard let text = docComment(file.lines[index]), startsParagraph(index, in: file),
        let word = firstWord(of: text), bannedOpenings.contains(word)
      else { return nil }
      return file.violation(
        index + 1, "a doc comment starts with \"\(word)\": start with a noun phrase or a verb")
    }
  }

  private static func words(in file: SourceFile) -> [Violation] {
    file.lines.indices.flatMap { index -> [Violation] in
      guard let comment = comment(in: file, line: index) else { return [] }
      let words = comment.lowercased().split { !$0.isLetter }.map(String.init)
      return words.filter(bannedWords.contains).map {
        file.violation(index + 1, "the comment says \"\($0)\": name the subject")
      }
    }
  }

  /// The text of a line that consists of a doc comment.
  private static func docComment(_ line: String) -> Substring? {
    let text = line.drop { $0 == " " }
    return text.hasPrefix("///") ? text.dropFirst(3).drop { $0 == " " } : nil
  }

  private static func startsParagraph(_ index: Int, in file: SourceFile) -> Bool {
    guard let text = docComment(file.lines[index]), !text.hasPrefix("- ") else { return true }
    guard index > 0, let before = docComment(file.lines[index - 1]) else { return true }
    return before.isEmpty
  }

  /// The first word, after a field such as `- Returns:` if there is one.
  private static func firstWord(of text: Substring) -> String? {
    // The literal is compiled each time.
    let sentence =
      text.hasPrefix("- ")
      ? text.replacing(/^- (Returns|Throws|Note|Parameter \w+|\w+):\s*/, with: "") : text
    return sentence.split { !$0.isLetter }.first.map(String.init)
  }

  /// The comment in a line: what the lexer blanked out from `//` on.
  private static func comment(in file: SourceFile, line: Int) -> String? {
    let (text, code) = (file.lines[line], file.code[line])
    guard let start = text.range(of: "//") else { return nil }
    let offset = text.distance(from: text.startIndex, to: start.lowerBound)
    guard code.dropFirst(offset).allSatisfy({ $0 == " " }) else { return nil }
    return String(text[start.upperBound...])
  }
}
