// SPDX-License-Identifier: Apache-2.0
import Terminal

/// The arguments of the command line, prepared for the parser.
struct CommandArguments {
  /// The arguments as they were typed.
  let typed: [String]

  init(_ typed: [String]) {
    self.typed = typed
  }

  /// True if the output and errors are JSON.
  var wantsJSON: Bool { typed.prefix { $0 != "--" }.contains("--json") }

  /// True if the log of the command is JSON, and so is its last error.
  var wantsJSONLog: Bool {
    let words = typed.prefix { $0 != "--" }
    return words.contains("--log-format=json")
      || zip(words, words.dropFirst()).contains { $0 == "--log-format" && $1 == "json" }
  }

  /// The arguments in the form that the parser reads without doubt: `--port -1` is `--port=-1`, because the parser
  /// takes `-1` for an option.
  ///
  /// - Throws: `CommandFailure` for an empty argument: the value of an unset variable would name the current folder.
  var parsable: [String] {
    get throws(CommandFailure) {
      var arguments: [String] = []
      for word in typed {
        if word.isEmpty || Self.isEmptyOption(word) {
          throw Self.empty(word, after: arguments.last)
        }
        if let option = arguments.last, Self.isOption(option), Self.isNegativeNumber(word) {
          arguments[arguments.count - 1] = "\(option)=\(word)"
        } else {
          arguments.append(word)
        }
      }
      return arguments
    }
  }

  private static func isOption(_ word: String) -> Bool {
    word.hasPrefix("--") && word.count > 2 && !word.contains("=")
  }

  private static func isEmptyOption(_ word: String) -> Bool {
    word.hasPrefix("--") && word.hasSuffix("=") && word.count { $0 == "=" } == 1
  }

  private static func isNegativeNumber(_ word: String) -> Bool {
    word.wholeMatch(of: /-[0-9].*/) != nil
  }

  private static func empty(_ word: String, after previous: String?) -> CommandFailure {
    let option =
      word.isEmpty ? previous.flatMap { isOption($0) ? $0 : nil } : String(word.dropLast())
    let subject = option.map { "The value of \($0.printable)" } ?? "An argument"
    return .badInput("\(subject) is empty: write it, or check the variable that it comes from.")
  }
}
