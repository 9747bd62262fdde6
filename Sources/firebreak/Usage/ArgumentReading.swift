// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Terminal

/// The arguments of the command line in the tree of commands: the command that they name, and the first word that
/// does not belong there.
struct ArgumentReading {
  /// The word at which the arguments leave the tree.
  enum Fault: Equatable {
    case unknownCommand(String)
    case unknownOption(String)
  }

  /// The deepest command that is named.
  private(set) var command = CommandNode.root
  private(set) var fault: Fault?
  /// The command at which the fault was found.
  private(set) var faultyCommand = CommandNode.root
  /// The options of `command`; nil until they are needed.
  private var options: [ArgumentDescription]?

  init(_ arguments: [String]) {
    // `help help` is the help of the program.
    var rest = arguments.drop { $0 == CommandDescription.helpName }
    let asksForHelp = rest.count < arguments.count
    while let word = rest.popFirst(), word != Self.terminator {
      if word.hasPrefix("-"), word != "-" {
        readOption(word, &rest)
      } else if !command.subcommands.isEmpty || asksForHelp {
        readCommand(word)
        if case .unknownCommand = fault { return }
      }
    }
  }

  private static let terminator = "--"
  /// The flags that the parser adds to every command. They are listed here because the parser needs most of a second to
  /// describe the whole program.
  private static let parserFlags = ["--help", "-h", "--help-hidden", "-help"]
  /// The flag that the parser adds to the program.
  private static let programFlag = "--version"
  private static let completionOption = "--generate-completion-script"

  /// The shell for which the arguments ask for a completion script, and for nothing else; nil if they do not.
  static func completionShell(in arguments: [String]) -> CompletionShell? {
    let words = arguments.flatMap { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    guard words.count == 2, words[0] == completionOption else { return nil }
    return CompletionShell(rawValue: words[1])
  }

  /// Descends into the command. After an unknown option the word may be its value.
  private mutating func readCommand(_ name: String) {
    if let next = command.subcommand(named: name) {
      command = next
      options = nil
    } else {
      report(.unknownCommand(name))
    }
  }

  private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) {
    let name = String(word.prefix { $0 != "=" })
    if Self.parserFlags.contains(name) { return }
    if name == Self.programFlag, command.path.count == 1 { return }
    if name == Self.completionOption {
      _ = rest.popFirst()
      return
    }
    let known = options ?? command.options
    options = known
    guard let option = known.first(where: { $0.optionNames.contains(name) }) else {
      report(.unknownOption(name))
      return
    }
    if option.kind == .option, !word.contains("=") { _ = rest.popFirst() }
  }

  private mutating func report(_ new: Fault) {
    guard fault == nil else { return }
    (fault, faultyCommand) = (new, command)
  }
}
