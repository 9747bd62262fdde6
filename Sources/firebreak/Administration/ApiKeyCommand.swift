import ArgumentParser

/// `api-key`: who may call the verification server in Google's contract.
struct ApiKeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-key", abstract: "Add, list and revoke API keys.",
    subcommands: [ApiKeyAddCommand.self, ApiKeyListCommand.self, ApiKeyRevokeCommand.self])
}
