// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A Swift or C file, as text and as code with comments and string contents blanked out.
struct SourceFile {
  /// Relative to the project's root.
  let path: String
  let lines: [String]
  /// The same lines with comments and string contents replaced by spaces.
  let code: [String]
  private let wholeCode: String

  init(path: String, text: String) {
    self.path = path
    lines = text.components(separatedBy: "\n")
    wholeCode = CodeLexer.code(of: text)
    code = wholeCode.components(separatedBy: "\n")
  }

  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

  /// The target that the file belongs to, if it is under Sources.
  var target: String? {
    let parts = path.split(separator: "/")
    return parts.first == "Sources" && parts.count > 2 ? String(parts[1]) : nil
  }

  var isInC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }

  var isGenerated: Bool { path.hasSuffix(".pb.swift") }

  /// The lines of code in which `pattern` matches, each with its number.
  func matches(_ pattern: String) -> [(line: Int, text: String)] {
    let expression = Self.expression(for: pattern)
    // Most files have no match. A lookaround may see the next line, so it decides line by line.
    if !pattern.contains("(?"), !isMatched(by: expression) { return [] }
    return code.enumerated().compactMap { index, text in
      let all = NSRange(text.startIndex..., in: text)
      return expression.firstMatch(in: text, range: all) == nil ? nil : (index + 1, text)
    }
  }

  private func isMatched(by expression: NSRegularExpression) -> Bool {
    let all = NSRange(wholeCode.startIndex..., in: wholeCode)
    return expression.firstMatch(in: wholeCode, range: all) != nil
  }

  /// The expressions of all files by their pattern: compiling one for each file takes longer than searching.
  private static let expressions = Mutex<[String: NSRegularExpression]>([:])

  private static func expression(for pattern: String) -> NSRegularExpression {
    expressions.withLock { known in
      if let expression = known[pattern] { return expression }
      guard
        let new = try? NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
      else {
        preconditionFailure("\(pattern) is not a regular expression")
      }
      known[pattern] = new
      return new
    }
  }

  func violation(_ line: Int, _ advice: String) -> Violation {
    Violation(path: path, line: line, advice: advice)
  }
}

/// A broken rule: its location and how to fix it.
struct Violation: CustomStringConvertible {
  let path: String
  let line: Int
  let advice: String

  var description: String { "\(path):\(line): \(advice)" }
}

/// Replaces comments and string contents by spaces, so that rules see code only.
private struct CodeLexer {
  private let source: [UInt8]
  private var output: [UInt8] = []
  private var position = 0

  static func code(of text: String) -> String {
    var lexer = CodeLexer(source: Array(text.utf8))
    while lexer.position < lexer.source.count { lexer.readCode(untilParenthesis: false) }
    return String(decoding: lexer.output, as: UTF8.self)
  }

  private init(source: [UInt8]) {
    self.source = source
  }

  private mutating func readCode(untilParenthesis: Bool) {
    var depth = 0
    while position < source.count {
      switch source[position] {
      case UInt8(ascii: "/") where hasPrefix("//"):
        while position < source.count, source[position] != UInt8(ascii: "\n") { blank() }
      case UInt8(ascii: "/") where hasPrefix("/*"):
        while position < source.count, !hasPrefix("*/") { blank() }
        for _ in 0..<2 where position < source.count { blank() }
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        if let hashes = hashesOfString() { readString(hashes: hashes) } else { keep() }
      case UInt8(ascii: "("):
        depth += 1
        keep()
      case UInt8(ascii: ")"):
        depth -= 1
        if untilParenthesis && depth < 0 { return }
        keep()
      default: keep()
      }
    }
  }

  private mutating func readString(hashes: Int) {
    for _ in 0..<hashes { keep() }
    let quotes = hasPrefix("\"\"\"") ? "\"\"\"" : "\""
    let tail = String(repeating: "#", count: hashes)
    for _ in quotes.utf8 { keep() }
    while position < source.count, !hasPrefix(quotes + tail) {
      // The quotation mark was part of a regular expression.
      if quotes.utf8.count == 1, source[position] == UInt8(ascii: "\n") { return }
      if hasPrefix("\\" + tail + "(") {
        for _ in 0..<(2 + hashes) { keep() }
        readCode(untilParenthesis: true)
      } else if hasPrefix("\\" + tail) {
        for _ in 0..<(2 + hashes) where position < source.count { blank() }
      } else {
        blank()
      }
    }
    for _ in (quotes + tail).utf8 where position < source.count { keep() }
  }

  /// The number of `#` before the string that begins here, or nil if none begins.
  private func hashesOfString() -> Int? {
    var end = position
    while end < source.count, source[end] == UInt8(ascii: "#") { end += 1 }
    return end < source.count && source[end] == UInt8(ascii: "\"") ? end - position : nil
  }

  private func hasPrefix(_ text: String) -> Bool {
    source[position...].starts(with: text.utf8)
  }

  private mutating func keep() {
    output.append(source[position])
    position += 1
  }

  private mutating func blank() {
    let byte = source[position]
    output.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
    position += 1
  }
}
