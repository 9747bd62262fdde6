// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Terminal

/// A command in the tree of all commands, with its path.
struct CommandNode {
  private let type: any ParsableCommand.Type
  /// The names from the program to this command.
  let path: [String]

  static let root = CommandNode(type: Firebreak.self, path: [Firebreak._commandName])

  /// The command as it is typed, such as `firebreak keyfile make`.
  var text: String { path.joined(separator: " ") }

  var subcommands: [CommandNode] {
    type.configuration.subcommands.map { CommandNode(type: $0, path: path + [$0._commandName]) }
  }

  /// The subcommands that the help lists.
  var shownSubcommands: [CommandNode] { subcommands.filter { $0.type.configuration.shouldDisplay } }

  var name: String { type._commandName }

  /// True if the command does something without a subcommand.
  var runsAlone: Bool {
    type.configuration.subcommands.isEmpty || type.configuration.defaultSubcommand != nil
  }

  func subcommand(named name: String) -> CommandNode? {
    subcommands.first { $0.name == name }
  }

  /// The commands at any depth below this one that the help lists and that have this name.
  func descendants(named name: String) -> [CommandNode] {
    shownSubcommands.flatMap { child in
      (child.name == name ? [child] : []) + child.descendants(named: name)
    }
  }

  /// The options of the command. The parser needs a moment to describe them.
  var options: [ArgumentDescription] {
    // The description is JSON of the parser, which the tests decode for every command.
    (try? CommandDescription(json: type._dumpHelp()))?.options ?? []
  }
}
