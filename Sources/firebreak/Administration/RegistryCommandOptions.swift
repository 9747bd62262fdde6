// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ServerOperations
import Terminal

/// `--data`, `--config` and `--json` for commands with options that have the same names as those of `ServerOptions`.
struct RegistryCommandOptions: ParsableArguments, ReportWriter {
  @Option(help: "The folder with all data of the servers.")
  var data = ServerOptions.defaultFolder

  @OptionGroup var configuration: ConfigurationOption

  @Flag(help: "Print one JSON object.")
  var json = false

  /// The servers of the existing folder, which has data of the key server.
  func setup() throws -> ServerSetup {
    var folder = try ServerFolder(existing: data, of: .keys)
    folder.shared = try ServerOptions.sharedSettings(
      of: folder, .keys, file: configuration.file)
    return ServerSetup(folder: folder, database: try DatabaseOptions.addressOfEnvironment) {
      note($0)
    }
  }
}
