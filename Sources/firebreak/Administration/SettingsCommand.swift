// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ServerOperations
import Settings
import Terminal

/// `settings`: the settings of the file, the options and the defaults.
struct SettingsCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "settings",
      abstract:
        "Show the settings of settings.json, the options and the defaults; exit code 2 if they are not valid.",
      discussion: """
        The server reads settings.json in its folder when it starts, and again at SIGHUP. The output of --json may \
        be used as that file. It has no secrets: settings name the files of secrets.
        """)
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() throws {
    let setup = try servers.setup(of: Server.name, mayBeUnused: true)
    try setup.check(Server.name)
    let settings = try setup.settingsInForce(of: Server.name)
    try report.write(settings, settings.lines().joined(separator: "\n"))
  }
}
