import ArgumentParser

/// `signing-key`: what a server signs with.
struct SigningKeyCommand<Owner: ServerOwner>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "signing-key", abstract: "List, add and change the keys the server signs with.",
      subcommands: [
        SigningKeyListCommand<Owner>.self, SigningKeyAddCommand<Owner>.self,
        SigningKeyRotateCommand<Owner>.self,
      ], defaultSubcommand: SigningKeyListCommand<Owner>.self)
  }
}
