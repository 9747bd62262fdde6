import ArgumentParser

/// `signing-key list`: the public halves and their times.
struct SigningKeyListCommand<Owner: ServerOwner>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "list", abstract: "List the keys: their names, their times, their public halves."
    )
  }

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let folder = try ServerFolder(existing: options.data, of: Owner.server)
    guard let keys = try Owner.signingKeys(of: folder) else {
      throw CommandFailure.badInput(
        "The \(Owner.commandName) of \(options.data.printable) has no keys yet: start it first.")
    }
    try SigningKeyReport(keys).print(asJSON: json)
  }
}
