import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import World

/// The parts of a server that the administration commands of both servers need.
protocol AdministeredServer {
  /// The options of the commands that change signing keys.
  associatedtype KeyOptions: ParsableArguments
  static var commandName: String { get }
  static var name: ServerName { get }
  /// The default overlap of signing keys in a rotation, in seconds.
  static var overlapSeconds: Int { get }
  /// The default time until a new key signs, in seconds.
  static var leadSeconds: Int { get }
  static func database(of folder: ServerFolder) -> URL
  /// The files that are backed up beside the database, if they exist.
  static func backupFiles(of folder: ServerFolder) -> [URL]
  static func secretsFile(of folder: ServerFolder) -> PrivateFile
  /// The signing keys; `nil` if there are none yet.
  static func signingKeys(of folder: ServerFolder) throws -> [SecretSigningKey]?
  /// The signing keys, which are created if there are none yet.
  static func signingKeysOrFirst(of setup: ServerSetup) throws -> [SecretSigningKey]
  /// Stores the keys and publishes them.
  static func store(
    _ keys: [SecretSigningKey], of setup: ServerSetup, options: KeyOptions) throws
  /// A new key with the id or version that follows those of `keys`.
  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey
  /// The settings that are in force, without the files that they name.
  static func settingsInForce(of setup: ServerSetup) throws -> JSONTree
  /// The settings that are in force, after a check of all of them.
  static func settings(of setup: ServerSetup) throws -> JSONTree
}

extension AdministeredServer {
  /// Changes and stores the signing keys, which are created if there are none yet. Concurrent changes wait.
  ///
  /// - Returns: The changed keys.
  static func changeKeys(
    of setup: ServerSetup, options: KeyOptions, _ change: (inout [SecretSigningKey]) -> Void
  ) throws -> [SecretSigningKey] {
    try secretsFile(of: setup.folder).withLock {
      var keys = try signingKeysOrFirst(of: setup)
      change(&keys)
      try store(keys, of: setup, options: options)
      return keys
    }
  }
}

/// `settings`: the settings that are in force, from the file, the options and the defaults.
struct SettingsCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "settings",
      abstract: "Show the settings that are in force; exit code 2 if they are not valid.",
      discussion: """
        They are in settings.json in the server's folder; the server reads them when it starts. The output of \
        --json may be used as that file. It has no secrets: settings name the files of secrets.
        """)
  }

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let folder = try ServerFolder(existing: options.data, of: Server.name)
    let settings = try Server.settings(of: ServerSetup(folder: folder, options: options))
    try json
      ? printJSON(settings)
      : StandardOutput.write(settings.lines().joined(separator: "\n"))
  }
}

/// `clock`: the times that the server compares the machine's clock with.
struct ClockCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "clock",
      abstract:
        "Compare the clock with the server's newest time, or confirm it; exit code 1 if it differs.",
      discussion: """
        If its clock was set, a server publishes, deletes and forgets nothing until the clock is right again or \
        confirmed. The same applies if it starts more than a day after it stopped. A running server accepts a \
        confirmation within minutes.
        """)
  }

  private struct Report: Encodable {
    /// All times are in Unix seconds.
    let now: Int64
    let newest: Int64?
    let confirmed: Int64?
    let isPlausible: Bool
  }

  @Flag(help: "Confirm that the clock is right.")
  var confirm = false

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let folder = try ServerFolder(existing: options.data, of: Server.name)
    let database = Server.database(of: folder)
    guard FileManager.default.fileExists(atPath: database.path) else {
      throw CommandFailure.badInput(
        "There is no database \(database.path.printable): name the servers' folder with --data.")
    }
    let now = SystemClock().now
    let record: ClockRecord
    do {
      if confirm { try ServerState.confirm(now, in: database) }
      record = try ServerState.clockRecord(in: database)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        message:
          "\(database.path.printable) cannot be read or written: check its disk, then retry.")
    }
    let isPlausible = record.implausibleGap(to: now) == nil
    func seconds(_ date: Date?) -> Int64? { date.map { Int64($0.timeIntervalSince1970) } }
    if json {
      try printJSON(
        Report(
          now: Int64(now.timeIntervalSince1970), newest: seconds(record.newest),
          confirmed: seconds(record.confirmed), isPlausible: isPlausible))
    } else {
      let newest = record.newest.map { "\($0)" } ?? "none yet"
      try StandardOutput.write("The clock shows \(now). The server's newest time: \(newest).")
    }
    guard isPlausible else {
      throw CommandFailure(
        status: .no,
        message: "The times differ too much: correct the clock, or confirm it with --confirm.")
    }
  }
}
