import ArgumentParser

/// Everything about one diagnosis key file.
struct KeyfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyfile",
    abstract: "Look at, verify and make diagnosis key files.",
    subcommands: [InspectCommand.self, VerifyCommand.self, MakeCommand.self])
}
