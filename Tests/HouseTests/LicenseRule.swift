// SPDX-License-Identifier: Apache-2.0
/// Checks that sources and scripts state their license in the first line, so that a copied file keeps it.
enum LicenseRule {
  private static let suffixes = [".swift", ".c", ".h", ".js", ".css", ".py", ".proto", ".sh"]

  /// Returns `true` for sources and scripts. Generated sources, texts, pages and data are exempt.
  static func applies(to path: String, text: String) -> Bool {
    let name = path.split(separator: "/").last ?? ""
    return !path.hasSuffix(".pb.swift")
      && (suffixes.contains(where: path.hasSuffix) || path.hasPrefix("scripts/")
        || name == "Makefile" || text.hasPrefix("#!"))
  }

  static func violation(inFile path: String, text: String) -> Violation? {
    guard applies(to: path, text: text) else { return nil }
    var lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)[...]
    // These two must be the first line themselves.
    if text.hasPrefix("#!") || text.hasPrefix("// swift-tools-version") { lines.removeFirst() }
    let line = #/(?:// |# |/\* )SPDX-License-Identifier: Apache-2\.0(?: \*/)?/#
    guard lines.first?.wholeMatch(of: line) == nil else { return nil }
    return Violation(
      path: path, line: lines.startIndex + 1,
      advice: "add the comment SPDX-License-Identifier: Apache-2.0")
  }
}
