// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Terminal

/// An error of usage in one line: the cause and what to type instead.
struct UsageError {
  private let arguments: [String]
  private let reading: ArgumentReading

  /// The arguments that were refused.
  init(_ arguments: [String]) {
    self.arguments = arguments
    reading = ArgumentReading(arguments)
  }

  /// The failure for an error of the argument parser, whose message is `message`.
  func failure(_ message: String) -> CommandFailure {
    .badInput(unknownWord ?? explained(message))
  }

  /// The failure if the arguments name a command that does not exist; nil if they do not.
  var unknownCommand: CommandFailure? {
    guard case .unknownCommand = reading.fault else { return nil }
    return unknownWord.map(CommandFailure.badInput)
  }

  /// The failure if the arguments name a group of commands and none of it; nil if they do not.
  var missingCommand: CommandFailure? {
    guard !reading.command.runsAlone, reading.command.path.count > 1 else { return nil }
    let names = reading.command.shownSubcommands.map(\.name).joined(separator: ", ")
    return .badInput(
      "`\(reading.command.text)` needs a command: \(names). `\(reading.command.text) --help`"
        + " explains them.")
  }

  // MARK: Unknown words

  private var unknownWord: String? {
    switch reading.fault {
    case .unknownCommand(let name): unknownCommand(name, in: reading.faultyCommand)
    case .unknownOption(let name): unknownOption(name, of: reading.faultyCommand)
    case nil: nil
    }
  }

  private func unknownCommand(_ name: String, in command: CommandNode) -> String {
    guard !command.subcommands.isEmpty else {
      return "`\(command.text)` has no command '\(name.printable)': see `\(command.text) --help`."
    }
    let place = command.path.count > 1 ? " of `\(command.text)`" : ""
    return "Unknown command '\(name.printable)'\(place): "
      + (commandSuggestion(for: name, in: command).map { "did you mean \($0)? " } ?? "")
      + "`\(command.text) --help` lists the commands."
  }

  private func commandSuggestion(for name: String, in command: CommandNode) -> String? {
    let names = command.shownSubcommands.map(\.name) + [CommandDescription.helpName]
    if let near = Spelling.nearest(to: name, among: names) {
      return "`\(command.text) \(near)`"
    }
    let others = CommandNode.root.descendants(named: name).prefix(Self.suggestionsMax)
    return others.isEmpty ? nil : others.map { "`\($0.text)`" }.joined(separator: " or ")
  }

  private static let suggestionsMax = 3

  private func unknownOption(_ name: String, of command: CommandNode) -> String {
    let fault = "Unknown option '\(name.printable)'"
    // A command after the option, or the only commands that have it, show where it belongs.
    if reading.command.path != command.path, has(reading.command, name) {
      return "\(fault) of `\(command.text)`: write it after `\(reading.command.text)`."
    }
    let owners = command.shownSubcommands.filter { has($0, name) }.prefix(Self.suggestionsMax)
    if let owner = owners.first, owners.count == 1 {
      return "\(fault) of `\(command.text)`: it is an option of `\(owner.text)`."
    }
    let names = command.options.filter(\.shouldDisplay).flatMap(\.optionNames)
    let near = Spelling.nearest(to: name, among: names.filter { $0.hasPrefix("--") })
    return "\(fault) of `\(command.text)`: " + (near.map { "did you mean \($0)? " } ?? "")
      + "`\(command.text) --help` lists the options."
  }

  private func has(_ command: CommandNode, _ option: String) -> Bool {
    command.options.contains { $0.optionNames.contains(option) }
  }

  // MARK: Messages of the parser

  /// The message with what to do. Messages of our own checks say it themselves.
  private func explained(_ message: String) -> String {
    let text = message.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
    if let number = NumberFault(text, arguments) { return number.text }
    guard Self.parserBeginnings.contains(where: text.hasPrefix) else { return text }
    let sentence = text.hasSuffix(".") ? String(text.dropLast()) : text
    return "\(sentence); see `\(reading.command.text) --help`."
  }

  /// The beginnings of the parser's own messages, which say only what is wrong.
  private static let parserBeginnings = [
    "Missing expected argument", "Missing value", "Missing one of", "Unexpected argument",
    "The option '", "The value '", "Unknown option", "Value to be set", "Invalid option",
  ]
}

/// The parser's message about a value that is not a number of the option's type.
private struct NumberFault {
  let text: String

  init?(_ message: String, _ arguments: [String]) {
    guard let (value, option) = Self.parts(of: message, arguments) else { return nil }
    let isNumber = value.wholeMatch(of: /[+-]?[0-9]+/) != nil
    text =
      switch (isNumber, value.hasPrefix("-")) {
      case (true, true): "\(option) takes no negative number, but \(value) was given."
      case (true, false): "\(option) takes no number as large as \(value): choose a smaller one."
      case (false, _): "\(option) takes a whole number, but '\(value.printable)' was given."
      }
  }

  private static func parts(
    of message: String, _ arguments: [String]
  ) -> (value: String, option: String)? {
    if let match = message.wholeMatch(of: /The value '(.*)' is invalid for '(--[a-z-]+) <[^>]*>'/) {
      return (String(match.1), String(match.2))
    }
    // The number of this option may be left out, so the parser does not relate the word to it.
    guard let match = message.wholeMatch(of: /Unexpected argument '(.*)'/),
      let place = arguments.firstIndex(of: String(match.1)), place > 0,
      arguments[place - 1] == ClassOptions.sizeOption
    else { return nil }
    return (String(match.1), ClassOptions.sizeOption)
  }
}
