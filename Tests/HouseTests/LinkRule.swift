// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Checks that references to pages of the documentation lead somewhere: links in Markdown, including their
/// headings, and paths in comments.
enum LinkRule {
  /// Checks the links of one page.
  static func violations(
    inPage path: String, text: String, exists: (String) -> Bool, read: (String) -> String?
  ) -> [Violation] {
    let folder = path.split(separator: "/").dropLast().map(String.init)
    let target = /\]\(([^)\s]+)\)/
    var isCode = false
    return text.components(separatedBy: "\n").enumerated().flatMap { index, line -> [Violation] in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode else { return [] }
      return line.matches(of: target).compactMap { match in
        let link = String(match.1)
        guard !link.contains("://"), !link.hasPrefix("mailto:") else { return nil }
        guard let problem = problem(link, in: folder, page: path, exists: exists, read: read)
        else { return nil }
        return Violation(path: path, line: index + 1, advice: problem)
      }
    }
  }

  /// Checks the paths such as `Documentation/Matching.md` that a source file mentions.
  static func violations(in file: SourceFile, exists: (String) -> Bool) -> [Violation] {
    file.lines.enumerated().filter { $1.contains("Documentation/") }.flatMap { index, line in
      line.matches(of: #/Documentation/[\w\-/]+\.md/#).map { String($0.0) }
        .filter { !exists($0) }
        .map { file.violation(index + 1, "\($0) does not exist: correct the path") }
    }
  }

  private static func problem(
    _ link: String, in folder: [String], page: String, exists: (String) -> Bool,
    read: (String) -> String?
  ) -> String? {
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].isEmpty ? page : resolve(String(parts[0]), in: folder)
    guard exists(path) else { return "\(link): there is no \(path)" }
    guard parts.count == 2, path.hasSuffix(".md") else { return nil }
    let anchors = headings(in: read(path) ?? "").map(anchor)
    return anchors.contains(String(parts[1])) ? nil : "\(link): \(path) has no such heading"
  }

  private static func resolve(_ link: String, in folder: [String]) -> String {
    var parts = folder
    for part in link.split(separator: "/") {
      switch part {
      case ".": continue
      case "..": _ = parts.popLast()
      default: parts.append(String(part))
      }
    }
    return parts.joined(separator: "/")
  }

  private static func headings(in text: String) -> [String] {
    var isCode = false
    return text.components(separatedBy: "\n").filter { line in
      if line.hasPrefix("```") { isCode.toggle() }
      return !isCode && line.hasPrefix("#")
    }.map { $0.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces) }
  }

  /// The anchor that Git hosts give a heading: lower case, spaces to hyphens, punctuation removed.
  static func anchor(of heading: String) -> String {
    String(
      heading.lowercased().compactMap { character -> Character? in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || "-_".contains(character)
          ? character : nil
      })
  }
}
