// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The accessibility trees in a folder: of every page in English, and the titles and headings of every page in each
/// language. With `FIREBREAK_UPDATE_TREES=1` they are written instead of compared; a tour must then have every page in
/// each language, as in `make prove`.
public final class GoldenTrees {
  /// A regular expression for text that differs from run to run, and its replacement.
  public typealias Mask = (pattern: String, replacement: String)

  private let folder: URL
  private let changing: Set<String>
  private let masks: [Mask]
  private var headings: [String: [String]] = [:]

  private static let updates =
    ProcessInfo.processInfo.environment["FIREBREAK_UPDATE_TREES"] == "1"

  /// - Parameters:
  ///   - folder: The folder, such as `Tests/WebAppTests/AccessibilityTrees`.
  ///   - changing: Pages whose content is different in each run.
  ///   - masks: Further masks, applied before those of `masked`.
  public init(in folder: String, changing: Set<String> = [], masks: [Mask] = []) {
    self.folder = SharedData.projectRoot.appendingPathComponent(folder)
    self.changing = changing
    self.masks = masks
  }

  /// Compares an English tree, and keeps the headings of the others for `finish`.
  ///
  /// - Returns: The difference as a message; nil if there is none.
  public func difference(
    _ tree: AccessibilityTree, at page: String, in language: String
  ) -> String? {
    let text = Self.masked(Self.replaced(tree.text, masks))
    let titles = text.split(separator: "\n").filter { line in
      line.hasPrefix("document") || line.firstMatch(of: /^\s*heading .* level=1/) != nil
    }.map { $0.trimmingCharacters(in: .whitespaces) }
    headings[language, default: []].append("\(page): " + titles.joined(separator: ", "))
    guard language == "en", !changing.contains(page) else { return nil }
    return difference(text, file: "\(page).txt")
  }

  /// Compares the titles and headings of the languages. In a tour that has each page in one language, only those of the
  /// pages that it has had.
  ///
  /// - Returns: The differences as messages.
  public func finish(isComplete: Bool = Proof.isRunning) -> [String] {
    headings.sorted { $0.key < $1.key }.compactMap { language, lines in
      let name = "headings-\(language).txt"
      if isComplete { return difference(lines.joined(separator: "\n") + "\n", file: name) }
      let stored = Set(stored(name).split(separator: "\n").map(String.init))
      let changed = lines.filter { !stored.contains($0) }
      return changed.isEmpty ? nil : message(name, changed.map { "not found: \($0)" })
    }
  }

  private func difference(_ text: String, file name: String) -> String? {
    let file = folder.appendingPathComponent(name)
    if Self.updates {
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return nil
      } catch {
        return "\(name) cannot be written: \(error)"
      }
    }
    let difference = text.split(separator: "\n").difference(
      from: stored(name).split(separator: "\n"))
    let changes = difference.map { change in
      switch change {
      case .insert(let line, let text, _): "line \(line + 1) is new: \(text)"
      case .remove(let line, let text, _): "line \(line + 1) is missing: \(text)"
      }
    }
    return changes.isEmpty ? nil : message(name, changes)
  }

  private func stored(_ name: String) -> String {
    (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
  }

  private func message(_ name: String, _ changes: [String]) -> String {
    """
    The accessibility tree \(name) has changed. If that is intended, run `make accessibility-trees` and commit the file.
    \(changes.joined(separator: "\n"))
    """
  }

  /// The text with times, days, sizes, ports and counts of messages replaced, which differ from run to run.
  public static func masked(_ text: String) -> String {
    let month =
      "(January|February|March|April|May|June|July|August|September|October|November|December|"
      + "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)"
    let weekday = "((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
    return replaced(
      text,
      [
        (#"(127\.0\.0\.1|localhost):\d+"#, "HOST"),
        (#"\b\d{1,2}:\d{2}(:\d{2})?([\s\x{202F}][AP]M)?"#, "TIME"),
        (#"(\#(weekday),? )?(\d{1,2} )?\b\#(month)\b( \d{1,2})?(,? \d{4})?"#, "DAY"),
        (#"\b(in \d+ \w+|\d+ \w+ ago)\b"#, "WHEN"),
        // Only as a text of their own: within a sentence, these words are the same in every run.
        (#"(["(]|· )(just now|now|today|yesterday|this minute|tomorrow)([")])"#, "$1WHEN$3"),
        (#"\b[\d.,]+[\s\x{00A0}\x{202F}](bytes?|byte|kB|KB|MB|B)\b"#, "SIZE"),
      ])
  }

  private static func replaced(_ text: String, _ masks: [Mask]) -> String {
    masks.reduce(text) { text, mask in
      text.replacingOccurrences(
        of: mask.pattern, with: mask.replacement, options: .regularExpression)
    }
  }
}
