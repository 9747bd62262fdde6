import ArgumentParser
import Foundation
import KeyServer
import Logging
import ServiceLifecycle
import VerificationServer
import World

/// `firebreak serve`: the health authority's servers, until somebody stops them.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run the health authority's servers, until Ctrl-C or a termination.",
    discussion: """
      Secrets and signing keys are made on the first start, in DIR, for its owner only. What else may be set \
      stands in DIR/verification/settings.json and DIR/keys/settings.json, and `verification-server settings` \
      and `key-server settings` show it. Requests in progress are finished before the servers stop. Put a web \
      server with TLS before them.
      """)

  @Option(help: ArgumentHelp("One server alone.", valueName: "verification|keys|console"))
  var only: ServerName?

  @OptionGroup var options: ServerOptions

  @Option(help: "A PostgreSQL cluster; not there yet.")
  var database: String?

  @Option(help: "The first port: P for verification, P+1 for keys; 0 takes free ones.")
  var port = 8080

  @Option(help: "The address to listen on.")
  var host = "127.0.0.1"

  @Flag(help: "Say on the first line, as one JSON object, where the servers listen.")
  var json = false

  @Flag(help: "Log everything to the standard error, and not only what has to be seen to.")
  var verbose = false

  func validate() throws {
    guard (0...UInt16.max - 2).contains(UInt16(exactly: port) ?? .max) else {
      throw ValidationError("--port takes 0 to \(UInt16.max - 2).")
    }
    guard database == nil else {
      throw ValidationError("--database is not there yet: use --data and SQLite.")
    }
    guard only != .console else {
      throw ValidationError("--only console is not there yet: use verification or keys.")
    }
  }

  func run() async throws {
    let setup = ServerSetup(folder: try ServerFolder(path: options.data), options: options)
    // Before anything is made: secrets that a refused start leaves behind are nobody's.
    if only != .keys { try setup.checkVerification() }
    if only != .verification { try setup.checkKeys() }
    if only == nil { try setup.requireOneName() }
    let verification =
      only == .keys
      ? nil : try setup.verificationServer(host: host, port: port, logger: logger)
    let keys =
      only == .verification
      ? nil
      : try setup.keyServer(
        host: host, port: only == nil && port > 0 ? port + 1 : port, logger: logger)
    if keys != nil { note(try setup.keySettings().deviceVerificationNote) }
    let servers = RunningServers(verification: verification, keys: keys, host: host)
    try await servers.run(logger: logger) { addresses in
      try json ? printJSON(addresses) : StandardOutput.write(addresses.text)
    }
  }

  private var logger: Logger {
    guard verbose else { return Logger(label: "firebreak") { _ in OwnErrors() } }
    return Logger(label: "firebreak") { StreamLogHandler.standardError(label: $0) }
  }
}
