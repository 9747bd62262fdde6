// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ServerOperations

/// The options of most commands that administer the servers.
struct ServerCommandOptions: ParsableArguments, ReportWriter {
  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  /// The servers of the existing folder, which has data of `server`.
  func setup(of server: ServerName, mayBeUnused: Bool = false) throws -> ServerSetup {
    try options.setup(of: server, mayBeUnused: mayBeUnused)
  }
}
