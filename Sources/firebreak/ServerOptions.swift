// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import KeyServer
import Terminal

/// Options of `serve` and of the commands that administer the servers. They replace the values of the settings files.
struct ServerOptions: ParsableArguments {
  static let defaultFolder = "firebreak-data"

  @Option(help: "The folder with all data of the servers.")
  var data = Self.defaultFolder

  @Option(help: "The region, such as PL; by default from the key server's settings.")
  var region: String?

  @Option(help: "The app that may upload, by its package name; by default from the settings.")
  var app: String?

  @Option(help: "The issuer of the verification server's tokens; by default from the settings.")
  var issuer: String?

  @Option(help: "The audience of the tokens, the key server; by default from the settings.")
  var audience: String?

  @Option(
    name: .customLong("key-id"),
    help: "The id of a first key that signs key files; by default from the settings.")
  var keyID: String?

  func validate() throws {
    guard region.map(AuthorizedApp.isRegion) ?? true else {
      throw ValidationError(
        "--region takes two upper-case letters, such as PL, but '\((region ?? "").printable)' was given."
      )
    }
  }
}
