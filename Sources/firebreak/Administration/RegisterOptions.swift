// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerOperations
import Terminal

/// `--data` and `--json` for commands with options that have the same names as those of `ServerOptions`.
struct RegisterOptions: ParsableArguments, ReportingOptions {
  @Option(help: "The folder with all data of the servers.")
  var data = ServerOptions.defaultFolder

  @Flag(help: "Print one JSON object.")
  var json = false

  private var setup: ServerSetup {
    get throws { ServerSetup(folder: try ServerFolder(existing: data, of: .keys)) { note($0) } }
  }

  /// The servers, with the key server's register of apps and authorities, which is created if there is none yet.
  func created() throws -> ServerSetup {
    let setup = try setup
    try setup.prepareKeyServer()
    return setup
  }

  /// The servers, for commands that create nothing.
  ///
  /// - Throws: `CommandFailure` if the key server has no database yet.
  func existing() throws -> ServerSetup {
    let setup = try setup
    guard FileManager.default.fileExists(atPath: setup.folder.keyDatabase.path) else {
      throw CommandFailure.badInput(
        "The key server of \(data.printable) has no apps and authorities yet: add one, or start it"
          + " first.")
    }
    return setup
  }
}
