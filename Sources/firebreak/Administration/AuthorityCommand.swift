import ArgumentParser

/// `authority`: whose certificates `/v1/publish` takes.
struct AuthorityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authority", abstract: "Say whose certificates are taken.",
    subcommands: [AuthorityAddCommand.self])
}
