// SPDX-License-Identifier: Apache-2.0

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

  init(_ arguments: [String]) {
    var rest = arguments[...]
    if rest.first == CommandDescription.helpName { rest.removeFirst() }
    while let word = rest.popFirst(), word != Self.terminator {
      if word.hasPrefix("-"), word != "-" {
        readOption(word, &rest)
      } else if !command.subcommands.isEmpty, !readCommand(word) {
        return
      }
    }
  }

  private static let terminator = "--"

  /// Descends into the command; false if there is none with this name.
  private mutating func readCommand(_ name: String) -> Bool {
    guard let next = command.subcommand(named: name) else {
      report(.unknownCommand(name))
      return false
    }
    command = next
    return true
  }

  private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) {
    let name = String(word.prefix { $0 != "=" })
    guard let option = command.options.first(where: { $0.optionNames.contains(name) }) else {
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
