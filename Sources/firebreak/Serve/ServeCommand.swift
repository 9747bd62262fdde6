import ArgumentParser
import Foundation
import KeyServer
import Logging
import PhoneProcess
import VerificationServer
import World

/// `firebreak serve`: runs the health authority's servers.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run the health authority's servers until Ctrl-C or SIGTERM.",
    discussion: """
      Secrets and signing keys are created on the first start, in DIR, readable by its owner only. Other \
      settings are in DIR/verification/settings.json and DIR/keys/settings.json; `verification-server settings` \
      and `key-server settings` show them. Requests in progress are finished before the servers stop. Put a web \
      server with TLS in front of them.
      """)

  @Option(help: ArgumentHelp("Run one server only.", valueName: "verification|keys|console"))
  var only: ServerName?

  @OptionGroup var options: ServerOptions

  @Option(help: "A PostgreSQL cluster; not supported yet.")
  var database: String?

  @Option(help: "The first port: P for verification, P+1 for keys; 0 for free ports.")
  var port = 8080

  @Option(help: "The address to listen on.")
  var host = "127.0.0.1"

  @Flag(help: "Print the addresses of the servers as one JSON object on the first line.")
  var json = false

  @Flag(help: "Log everything to stderr, not only errors.")
  var verbose = false

  @Flag(help: "Allow the options for developers.")
  var developer = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run ahead of the machine's clock, or behind it. For developers.", valueName: "seconds"))
  var clockOffset = 0

  func validate() throws {
    try DeveloperOptions.check(clockOffset: clockOffset, developer: developer)
    guard (0...UInt16.max - 2).contains(UInt16(exactly: port) ?? .max) else {
      throw ValidationError("--port takes 0 to \(UInt16.max - 2).")
    }
    guard database == nil else {
      throw ValidationError("--database is not supported yet: use --data and SQLite.")
    }
    guard only != .console else {
      throw ValidationError("--only console is not supported yet: use verification or keys.")
    }
  }

  func run() async throws {
    let setup = ServerSetup(
      folder: try ServerFolder(path: options.data), options: options, clock: clock)
    // Checked before anything is created, so that a failed start leaves no secrets.
    if only != .keys { try setup.checkVerification() }
    if only != .verification { try setup.checkKeys() }
    if only == nil { try setup.requireMatchingNames() }
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

  private var clock: any WallClock {
    clockOffset == 0 ? SystemClock() : ClockWithOffset(SystemClock(), ahead: clockOffset)
  }

  private var logger: Logger {
    guard verbose else { return Logger(label: "firebreak") { _ in ServerErrorLog() } }
    return Logger(label: "firebreak") { StreamLogHandler.standardError(label: $0) }
  }
}

/// A log of the servers' own errors.
///
/// Errors of the libraries are mostly closed connections, and they quote client data.
private struct ServerErrorLog: LogHandler {
  private var stream = StreamLogHandler.standardError(label: "firebreak")

  private static let libraries = ["Hummingbird", "HummingbirdCore", "ServiceLifecycle"]

  var logLevel = Logger.Level.error
  var metadata: Logger.Metadata {
    get { stream.metadata }
    set { stream.metadata = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { stream[metadataKey: key] }
    set { stream[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    guard !Self.libraries.contains(event.source) else { return }
    stream.log(event: event)
  }
}
