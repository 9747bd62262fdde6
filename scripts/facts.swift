// SPDX-License-Identifier: Apache-2.0
// Measures the structure of the Swift files in the folders given as arguments, generated files left out: sizes of
// files and functions, types per file, and types that only one other file uses. Functions are found by matching
// braces, so the figures are approximate.

import Foundation

struct File {
  let path: String
  let text: String
  let code: [Substring]

  var lineCount: Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }
}

/// Blanks out comments and string literals line by line; multi-line literals stay, which is precise enough.
func withoutTextAndComments(_ text: String) -> String {
  text.replacing(/"(?:\\.|[^"\\\n])*"/, with: "\"\"").replacing(/\/\/[^\n]*/, with: "")
}

func files(below folder: String) -> [File] {
  let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
  return names.filter { $0.hasSuffix(".swift") && !$0.hasSuffix(".pb.swift") }.sorted().compactMap {
    guard let text = try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) else {
      return nil
    }
    let code = withoutTextAndComments(text).split(separator: "\n", omittingEmptySubsequences: false)
    return File(path: "\(folder)/\($0)", text: text, code: code)
  }
}

func declaredTypes(in file: File) -> [String] {
  file.code.compactMap { line in
    line.prefixMatch(
      of:
        /(?:(?:public|package|internal|private|fileprivate|open|final|indirect|nonisolated|@\w+(?:\([^)]*\))?)\s+)*(?:struct|class|enum|actor|protocol)\s+(\w+)/
    ).map { String($0.1) }
  }
}

func words(in file: File) -> Set<Substring> {
  Set(file.code.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" } })
}

func functionLengths(in file: File) -> [Int] {
  file.code.indices.compactMap { start in
    guard file.code[start].contains(/(^|\s)(func\s|init[?]?[(<]|subscript[(<]|deinit\s)/) else {
      return nil
    }
    var (braces, parentheses) = (0, 0)
    for index in start..<file.code.count {
      for character in file.code[index] {
        switch character {
        case "(", "[": parentheses += 1
        case ")", "]": parentheses -= 1
        case "{" where parentheses <= 0 || braces > 0: braces += 1
        case "}" where parentheses <= 0 || braces > 0:
          braces -= 1
          if braces < 0 { return nil }
          if braces == 0 { return index - start + 1 }
        default: break
        }
      }
    }
    return nil
  }
}

extension [Int] {
  /// The value at `fraction` of the sorted values.
  func quantile(_ fraction: Double) -> Int {
    isEmpty ? 0 : sorted()[Swift.min(count - 1, Int(Double(count) * fraction))]
  }
}

let all = CommandLine.arguments.dropFirst().flatMap(files)
let lengths = all.map(\.lineCount)
let functions = all.flatMap(functionLengths)
let types = all.map { (file: $0, names: declaredTypes(in: $0)) }
let usedWords = all.map { (path: $0.path, words: words(in: $0)) }
let typeCount = types.reduce(0) { $0 + $1.names.count }
let usedOnce = types.reduce(0) { count, entry in
  count
    + entry.names.count { name in
      usedWords.count { $0.path != entry.file.path && $0.words.contains(name[...]) } == 1
    }
}

print("files, lines: \(all.count), \(lengths.reduce(0, +))")
print("file median / p90: \(lengths.quantile(0.5)) / \(lengths.quantile(0.9))")
print(
  "files under 15 / under 30 lines: \(lengths.count { $0 < 15 }) / \(lengths.count { $0 < 30 })")
print("types a file: \((Double(typeCount) / Double(max(all.count, 1)) * 100).rounded() / 100)")
print("types used in one other file only: \(typeCount == 0 ? 0 : usedOnce * 100 / typeCount) %")
print(
  "function p90 / p99 / max: \(functions.quantile(0.9)) / \(functions.quantile(0.99)) / \(functions.max() ?? 0)"
)
