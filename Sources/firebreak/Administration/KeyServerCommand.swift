import ArgumentParser

/// `firebreak key-server`: what an official does beside the server that runs.
struct KeyServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-server", abstract: "Look after the key server: exports, keys, backup.",
    subcommands: [
      AuthorityCommand.self, AppCommand.self, ExportNowCommand.self,
      SigningKeyCommand<KeyServerOwner>.self,
      BackupCommand<KeyServerOwner>.self,
    ])
}
