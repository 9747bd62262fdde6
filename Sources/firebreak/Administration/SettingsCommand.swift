import ArgumentParser

/// `settings`: what holds, from the file, the options and the defaults; and whether it makes sense.
struct SettingsCommand<Owner: ServerOwner>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "settings",
      abstract: "Show the settings that hold; ends with 2 where they make no sense.",
      discussion: """
        They stand in settings.json in the server's folder, and count when it is started again. What --json \
        prints may be written there as it is. Secrets are not among them: settings name their files.
        """)
  }

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let folder = try ServerFolder(existing: options.data, of: Owner.server)
    let settings = try Owner.settings(of: ServerSetup(folder: folder, options: options))
    try json
      ? printJSON(settings)
      : StandardOutput.write(try JSONTree.of(settings).lines().joined(separator: "\n"))
  }
}
