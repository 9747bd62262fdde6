import ArgumentParser

/// `firebreak verification-server`: what an official does beside the server that runs.
struct VerificationServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verification-server",
    abstract: "Look after the verification server: keys, settings, backup.",
    subcommands: [
      ApiKeyCommand.self, ApiTokenCommand.self, SettingsCommand<VerificationServerOwner>.self,
      SigningKeyCommand<VerificationServerOwner>.self, BackupCommand<VerificationServerOwner>.self,
    ])
}
