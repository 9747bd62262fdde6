// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import TextEncodings
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
  /// The signing keys; `nil` if there are none yet.
  static func signingKeys(of folder: ServerFolder) throws -> [SecretSigningKey]?
  /// The signing keys, which are created if there are none yet.
  static func signingKeysOrFirst(of setup: ServerSetup) throws -> [SecretSigningKey]
  /// Stores the keys and publishes them.
  static func store(
    _ keys: [SecretSigningKey], of setup: ServerSetup, options: KeyOptions) throws
  /// A new key with the id or version that follows those of `keys`.
  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey
  /// Replaces what the former keys have signed, after a key was stolen.
  ///
  /// - Returns: The lines for the operator.
  static func signAgain(of setup: ServerSetup) async throws -> [String]
  /// Checks all settings.
  static func checkSettings(of setup: ServerSetup) throws
}

extension AdministeredServer {
  static func stored(in folder: ServerFolder) -> StoredServer {
    StoredServer(name: name, folder: folder)
  }

  /// Changes and stores the signing keys, which are created if there are none yet. Concurrent changes wait.
  ///
  /// - Returns: The changed keys.
  static func changeKeys(
    of setup: ServerSetup, options: KeyOptions, _ change: (inout [SecretSigningKey]) -> Void
  ) throws -> [SecretSigningKey] {
    try stored(in: setup.folder).secrets.withLock {
      var keys = try signingKeysOrFirst(of: setup)
      change(&keys)
      try store(keys, of: setup, options: options)
      return keys
    }
  }

  /// Adds a new key and ends the older ones after an overlap.
  ///
  /// - Returns: The changed keys.
  static func rotateKey(
    of setup: ServerSetup, options: KeyOptions, from begin: Date, overlapSeconds: Int
  ) throws -> [SecretSigningKey] {
    let end = begin.unixSecond + Int64(overlapSeconds)
    return try changeKeys(of: setup, options: options) { keys in
      let new = newKey(after: keys, from: begin)
      for index in keys.indices { keys[index].end(at: end) }
      keys.append(new)
    }
  }
}

/// `signing-key`: the keys that a server signs with.
struct SigningKeyCommand<Server: AdministeredServer>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "signing-key",
      abstract: "List, add, rotate and revoke the keys that the server signs with.",
      subcommands: [
        SigningKeyListCommand<Server>.self, SigningKeyAddCommand<Server>.self,
        SigningKeyRotateCommand<Server>.self, SigningKeyRevokeCommand<Server>.self,
      ], defaultSubcommand: SigningKeyListCommand<Server>.self)
  }
}

/// `signing-key list`
struct SigningKeyListCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "list", abstract: "List the keys: ids, validity and public keys."
    )
  }

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let folder = try ServerFolder(existing: options.data, of: Server.name)
    guard let keys = try Server.signingKeys(of: folder) else {
      throw CommandFailure.badInput(
        "The \(Server.commandName) of \(options.data.printable) has no keys yet: start it first.")
    }
    try SigningKeyReport(keys).print(asJSON: json)
  }
}

/// `signing-key add`
struct SigningKeyAddCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "add", abstract: "Add a new key, from now or later; the other keys stay valid.",
      discussion: SigningKeyTimes.lead(of: Server.self))
  }

  @OptionGroup var options: ServerOptions
  @OptionGroup var keyOptions: Server.KeyOptions

  @Option(
    help: ArgumentHelp("Start of validity: \(UTCTime.form).", valueName: "time"),
    transform: SigningKeyTimes.time)
  var from: Int64?

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let setup = ServerSetup(
      folder: try ServerFolder(existing: options.data, of: Server.name), options: options)
    let begin = SigningKeyTimes.date(from, leadSeconds: Server.leadSeconds)
    let keys = try Server.changeKeys(of: setup, options: keyOptions) { keys in
      keys.append(Server.newKey(after: keys, from: begin))
    }
    try SigningKeyReport(keys).print(asJSON: json)
  }
}

/// `signing-key rotate`
struct SigningKeyRotateCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "rotate", abstract: "Add a new key and end the older ones after an overlap.",
      discussion: """
        A running key server uses the new key at its next export, a verification server in seconds. \
        Without --overlap the older keys end \(Server.overlapSeconds) seconds after the new one begins. \
        \(SigningKeyTimes.lead(of: Server.self))
        """)
  }

  @OptionGroup var options: ServerOptions
  @OptionGroup var keyOptions: Server.KeyOptions

  @Option(help: "Seconds for which the older keys stay valid.")
  var overlap: Int?

  @Option(
    help: ArgumentHelp("Start of the new key's validity: \(UTCTime.form).", valueName: "time"),
    transform: SigningKeyTimes.time)
  var from: Int64?

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard SigningKeyTimes.overlaps.contains(overlap ?? 0) else {
      throw ValidationError("--overlap takes 0 to \(SigningKeyTimes.overlaps.upperBound).")
    }
  }

  func run() throws {
    let setup = ServerSetup(
      folder: try ServerFolder(existing: options.data, of: Server.name), options: options)
    let begin = SigningKeyTimes.date(from, leadSeconds: Server.leadSeconds)
    let keys = try Server.rotateKey(
      of: setup, options: keyOptions, from: begin,
      overlapSeconds: overlap ?? Server.overlapSeconds)
    try SigningKeyReport(keys).print(asJSON: json)
  }
}

/// `signing-key revoke`
struct SigningKeyRevokeCommand<Server: AdministeredServer>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "revoke",
      abstract: "Replace all keys at once, because one was stolen, and sign their files again.",
      discussion: """
        A new key begins now, and all others end. The key server signs the device configuration, and writes every file \
        of every export again under a new name; withdrawn files are removed. The running servers follow: within a \
        minute the key server refuses tokens of a revoked key. If a command fails, run it again.
        """)
  }

  @OptionGroup var options: ServerOptions
  @OptionGroup var keyOptions: Server.KeyOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let setup = ServerSetup(
      folder: try ServerFolder(existing: options.data, of: Server.name), options: options)
    let now = SigningKeyTimes.date(nil, leadSeconds: 0)
    let keys = try Server.rotateKey(of: setup, options: keyOptions, from: now, overlapSeconds: 0)
    let files = try await Server.signAgain(of: setup)
    try SigningKeyReport(keys, files: files).print(asJSON: json)
  }
}

/// Signing keys without their private parts.
private struct SigningKeyReport: Encodable {
  private struct Key: Encodable {
    let keyID: String
    let keyVersion: String?
    let validFrom: Int64?
    let validThru: Int64?
    let publicKey: String
  }

  private let keys: [Key]
  /// The key files that were signed again; nil if the command signs none.
  private let files: [String]?

  init(_ keys: [SecretSigningKey], files: [String]? = nil) {
    self.files = files
    self.keys = keys.map {
      Key(
        keyID: $0.keyID, keyVersion: $0.keyVersion, validFrom: $0.validFrom,
        validThru: $0.validThru, publicKey: $0.publicKeyPEM)
    }
  }

  func print(asJSON: Bool) throws {
    guard !asJSON else { return try printJSON(self) }
    for key in keys {
      let name = [key.keyID, key.keyVersion].compactMap { $0?.printable }.joined(separator: " ")
      let validity = KeyValidity(from: key.validFrom, thru: key.validThru)
      try StandardOutput.write("\(name) \(validity.text)\n\(key.publicKey)")
    }
    for file in files ?? [] { try StandardOutput.write("Wrote \(file)") }
  }
}

extension SecretSigningKey {
  /// Ends the key at `time`, unless it ends earlier. A key that begins later is never valid.
  fileprivate mutating func end(at time: Int64) {
    validThru = max(min(validThru ?? time, time), validFrom ?? time)
  }
}

/// The validity of keys.
enum SigningKeyTimes {
  /// Unix seconds, until 2286: names of key files have ten digits.
  static let seconds: ClosedRange<Int64> = 0...9_999_999_999
  /// Overlaps in seconds, up to ten years.
  static let overlaps = 0...315_360_000

  /// Parses a time.
  static func time(_ text: String) throws -> Int64 {
    guard let time = UTCTime(text)?.date.unixSecond, seconds.contains(time) else {
      throw ValidationError("expected \(UTCTime.form), before the year 2286")
    }
    return time
  }

  /// The given start, or the default: the server's lead from now, in whole seconds.
  static func date(_ seconds: Int64?, leadSeconds: Int) -> Date {
    Date(unixSecond: seconds ?? SystemClock().now.unixSecond + Int64(leadSeconds))
  }

  /// The sentence about the default start.
  static func lead<Server: AdministeredServer>(of server: Server.Type) -> String {
    let lead = Server.leadSeconds
    return lead == 0
      ? "Without --from the key begins now."
      : "Without --from the key begins in \(lead) seconds: phones learn it before it signs."
  }
}

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

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let folder = try ServerFolder(existing: options.data, of: Server.name, mayBeUnused: true)
    try Server.checkSettings(of: ServerSetup(folder: folder, options: options))
    let settings = try Server.stored(in: folder).settingsInForce(options)
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
    let server = Server.stored(in: folder)
    let database = server.database
    guard FileManager.default.fileExists(atPath: database.path) else {
      throw CommandFailure.badInput(
        "There is no database \(database.path.printable): name the servers' folder with --data.")
    }
    let now = SystemClock().now
    let record: ClockRecord
    do {
      if confirm { try ServerState.confirm(now, in: database, schema: server.schema) }
      record = try ServerState.clockRecord(in: database, schema: server.schema)
    } catch {
      throw CommandFailure(error, of: server.schema)
    }
    let isPlausible = record.implausibleGap(to: now) == nil
    func seconds(_ date: Date?) -> Int64? { date.map(\.unixSecond) }
    if json {
      try printJSON(
        Report(
          now: now.unixSecond, newest: seconds(record.newest),
          confirmed: seconds(record.confirmed), isPlausible: isPlausible))
    } else {
      let newest = record.newest.map { UTCTime($0).text } ?? "none yet"
      try StandardOutput.write(
        "The clock shows \(UTCTime(now).text). The server's newest time: \(newest).")
    }
    guard isPlausible else {
      throw CommandFailure(
        status: .no,
        message: "The times differ too much: correct the clock, or confirm it with --confirm.")
    }
  }
}
