// SPDX-License-Identifier: Apache-2.0

/// The manual page of all commands, in the macros of man(7).
package struct ManualPage {
  private let program: CommandDescription
  private let version: String

  /// The flags of every command, which are described once.
  private static let commonFlags = ["--version", "--help"]

  package init(_ program: CommandDescription, version: String) {
    (self.program, self.version) = (program, version)
  }

  package var text: String {
    (heading + commands + status + environment).joined(separator: "\n")
  }

  private var heading: [String] {
    let name = program.commandName
    return [
      ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\" \"User Commands\"",
      ".SH NAME", "\(name) \\- \(Self.escaped(Self.phrase(program.abstract)))",
      ".SH SYNOPSIS", ".B \(name)", "\\fICOMMAND\\fR [\\fIOPTION\\fR]...", ".br",
      ".B \(name)", "\\fB\\-\\-version\\fR | \\fB\\-\\-help\\fR | \\fBhelp\\fR \\fICOMMAND\\fR",
      ".SH DESCRIPTION", "The documentation of each command is in CommandLine.md.",
    ]
  }

  private var commands: [String] {
    [".SH COMMANDS"] + program.shownSubcommands.flatMap { section($0, above: "") }
  }

  /// The section of a command, then those of its subcommands.
  private func section(_ command: CommandDescription, above: String) -> [String] {
    let name = above + command.commandName
    let paragraphs = [command.abstract, command.discussion].compactMap { $0 }
      .flatMap { $0.split(separator: "\n") }.map { Self.escaped(String($0)) }
    let lines = [".SS \(Self.escaped(name))"] + paragraphs.flatMap { [$0, ".br"] }.dropLast()
    return lines + command.shownArguments.flatMap(argument)
      + command.shownSubcommands.flatMap { section($0, above: name + " ") }
  }

  private func argument(_ argument: ArgumentDescription) -> [String] {
    guard !argument.optionNames.contains(where: Self.commonFlags.contains) else { return [] }
    let value = "\\fI\(Self.escaped((argument.valueName ?? "").uppercased()))\\fR"
    let names = argument.optionNames.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
    let head =
      switch argument.kind {
      case .positional: argument.isRepeating ? "\(value)..." : value
      case .option: "\(names) \(value)"
      case .flag: names
      }
    let fallback = argument.defaultValue.map { argument.kind == .flag ? "" : " (default: \($0))" }
    let text = (argument.abstract ?? "") + (fallback ?? "")
    return [".TP", head, Self.escaped(text)]
  }

  private var status: [String] {
    [
      ".SH EXIT STATUS", ".TP", "0", "Yes, or done.", ".TP", "1", "The result is no.", ".TP", "2",
      "Bad input or usage; one line on stderr states what to change.", ".TP", "3",
      "The machine failed (disk, network, database); try again.",
    ]
  }

  private var environment: [String] {
    [
      ".SH ENVIRONMENT", ".TP", "NO_COLOR", "If it is not empty, the output has no colors.", ".TP",
      "TERM", "With the value dumb, the output has no colors and no progress bars.", ".TP",
      "COLUMNS", "The width of lines, instead of that of the terminal.",
    ]
  }

  /// A sentence without the period, as the line of a name has it.
  private static func phrase(_ sentence: String?) -> String {
    let sentence = sentence ?? ""
    return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  /// The text without characters that roff interprets.
  package static func escaped(_ text: String) -> String {
    let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
      .replacing("\n", with: " ")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}
