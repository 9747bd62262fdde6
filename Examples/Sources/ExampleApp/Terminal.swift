// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The output of the example.
enum Terminal {
  static func print(_ line: String) {
    Swift.print(line)
    fflush(nil)
  }

  static func warn(_ line: String) {
    FileHandle.standardError.write(Data("ExampleApp: \(line)\n".utf8))
  }
}

/// The command line: options `--name value`, and words in order.
struct Arguments {
  /// A missing or invalid argument.
  struct Problem: LocalizedError {
    let errorDescription: String?

    init(_ message: String) { errorDescription = message }
  }

  private static let flags: Set<String> = [
    "yes", "bluetooth-off", "network-dead", "killed-after-post",
  ]
  private var words: [String] = []
  private var options: [String: String] = [:]

  init(_ all: some Sequence<String>) throws {
    var all = Array(all)[...]
    while let word = all.popFirst() {
      guard word.hasPrefix("--") else {
        words.append(word)
        continue
      }
      let name = String(word.dropFirst(2))
      guard !Self.flags.contains(name) else {
        options[name] = ""
        continue
      }
      guard let value = all.popFirst() else { throw Problem("missing value of \(word)") }
      options[name] = value
    }
  }

  /// Removes and returns the next word.
  mutating func next(_ what: String) throws -> String {
    guard !words.isEmpty else { throw Problem("missing argument: \(what)") }
    return words.removeFirst()
  }

  mutating func nextIfAny() -> String? { words.isEmpty ? nil : words.removeFirst() }

  func has(_ flag: String) -> Bool { options[flag] != nil }

  func option(_ name: String) -> String? { options[name] }

  func file(_ name: String) -> URL? { options[name].map { URL(fileURLWithPath: $0) } }

  func date(_ name: String) throws -> Date? {
    try options[name].map { text in
      guard let date = ISO8601DateFormatter().date(from: text) else {
        throw Problem("--\(name) needs a time such as 2026-03-10T12:00:00Z, not \(text)")
      }
      return date
    }
  }
}
