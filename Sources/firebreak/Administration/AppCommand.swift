import ArgumentParser

/// `app`: which apps may publish.
struct AppCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app", abstract: "Say which apps may publish.",
    subcommands: [AppAddCommand.self])
}
