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
    let keys = try Owner.signingKeys(of: ServerFolder(path: options.data), options)
    try SigningKeyReport(keys).print(asJSON: json)
  }
}
