import ArgumentParser

/// `firebreak key-server`: what an official does beside the server that runs.
struct KeyServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-server",
    abstract: "Look after the key server: exports, keys, settings, backup.",
    subcommands: [
      AuthorityCommand.self, AppCommand.self, ExportNowCommand.self,
      SettingsCommand<KeyServerOwner>.self, SigningKeyCommand<KeyServerOwner>.self,
      BackupCommand<KeyServerOwner>.self,
    ])
}
