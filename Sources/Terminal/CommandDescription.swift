// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A command with its arguments, as the argument parser describes it in JSON.
package struct CommandDescription: Decodable {
  package let commandName: String
  package let abstract: String?
  package let discussion: String?
  /// False for commands that are left out of the help.
  let shouldDisplay: Bool
  private let subcommands: [CommandDescription]?
  private let arguments: [ArgumentDescription]?

  /// The name of the command that the parser adds.
  package static let helpName = "help"

  /// The command that `json` describes, with all commands below it.
  ///
  /// - Throws: If the JSON of the parser has another form, which would be a programming error.
  package init(json: String) throws {
    struct Dump: Decodable {
      let command: CommandDescription
    }
    self = try JSONDecoder().decode(Dump.self, from: Data(json.utf8)).command
  }

  /// The commands below this one that the help lists.
  package var shownSubcommands: [CommandDescription] {
    (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != Self.helpName }
  }

  /// All options and flags, also hidden ones.
  package var options: [ArgumentDescription] { (arguments ?? []).filter { $0.kind != .positional } }

  /// The arguments that the help lists: options and flags after the positional ones.
  package var shownArguments: [ArgumentDescription] {
    let shown = (arguments ?? []).filter(\.shouldDisplay)
    return shown.filter { $0.kind == .positional } + shown.filter { $0.kind != .positional }
  }
}

/// An argument of a command.
package struct ArgumentDescription: Decodable {
  package enum Kind: String, Decodable {
    case positional, option, flag
  }

  struct Name: Decodable {
    let kind: String
    let name: String

    /// The name with its dashes.
    var text: String { (kind == "long" ? "--" : "-") + name }
  }

  package let kind: Kind
  package let shouldDisplay: Bool
  let isOptional: Bool
  let isRepeating: Bool
  let valueName: String?
  let defaultValue: String?
  package let abstract: String?
  private let names: [Name]?

  /// The names with their dashes, such as `--json`; none for positional arguments.
  package var optionNames: [String] { (names ?? []).map(\.text) }
}
