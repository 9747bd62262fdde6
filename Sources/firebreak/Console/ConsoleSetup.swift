// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import Secrets
import Terminal
import TextEncodings
import VerificationServer
import World

/// The console of the folder, and the data that it needs.
extension ServerSetup {
  /// The setup for commands that create nothing: throws if the console has no database yet.
  static func existingConsole(_ options: ServerOptions) throws -> ServerSetup {
    let folder = try ServerFolder(existing: options.data, of: .console)
    guard FileManager.default.fileExists(atPath: folder.consoleDatabase.path) else {
      throw CommandFailure.badInput(
        "The console of \(folder.url.path.printable) has no database yet: add an account first.")
    }
    return ServerSetup(folder: folder, options: options)
  }

  /// The clock of sign-ins, sessions and the audit log. It is the machine's clock also in a rehearsal, because one-time
  /// codes follow the clock of the official's phone.
  private static let officialsClock = SystemClock()

  func consoleSettings() throws -> ConsoleSettings { try ConsoleSettings(folder.consoleSettings) }

  /// The commands on the console's database.
  func consoleAdministration() throws -> ConsoleAdministration {
    try ConsoleAdministration(
      consoleConfiguration(consoleSecrets()), clock: Self.officialsClock,
      randomness: SystemRandomness())
  }

  /// Creates what the console needs before it starts: its secrets, and its API key for the verification server of
  /// this folder.
  ///
  /// - Parameter hasVerification: True if the verification server runs in the same process.
  func prepareConsole(hasVerification: Bool) async throws {
    let secrets = try consoleSecrets()
    guard hasVerification else { return }
    let keys = try apiKeys()
    let id = secrets.apiKey?.split(separator: ".").first.map(String.init)
    let isValid = try await reportingErrors {
      try await keys.list().contains { $0.id == id && $0.revokedAt == nil }
    }
    guard !isValid else { return }
    let new = try await reportingErrors { try await keys.add(kind: .admin, name: "console") }
    try folder.consoleSecrets.withLock {
      var secrets = try consoleSecrets()
      secrets.apiKey = new
      try folder.consoleSecrets.replace(secrets)
    }
  }

  /// The address that the console listens on if the servers listen on `host`. The console speaks plain HTTP, so it is
  /// the loopback address unless an `https` origin and `allowsPlainHTTP` say that a proxy with TLS is in front of it:
  /// passwords must not cross a network unencrypted.
  func consoleHost(_ host: String) throws -> String {
    let settings = try consoleSettings()
    let isProxied = settings.allowsPlainHTTP && settings.origin?.hasPrefix("https:") == true
    return isProxied || ConsoleSettings.loopbackHosts.contains(host) ? host : "127.0.0.1"
  }

  /// The console, which listens when it is run.
  ///
  /// - Parameters:
  ///   - serversHost: The address that the servers of this process listen on.
  ///   - verification: The verification server of this process.
  ///   - keys: The key server of this process.
  func console(
    serversHost: String, port: Int, verification: VerificationServer?, keys: KeyServer?,
    logger: Logger
  ) throws -> HealthAuthorityConsole {
    let (secrets, settings) = (try consoleSecrets(), try consoleSettings())
    var configuration = try consoleConfiguration(secrets)
    configuration.host = try consoleHost(serversHost)
    configuration.port = port
    configuration.sendsSMS =
      try verification != nil && verificationSettings().inForce["sms"] != nil
    let codes = CodeSource(
      server: verification, host: serversHost, localKey: secrets.apiKey,
      remote: settings.verificationURL.flatMap { URL(string: $0) }, remoteKey: settings.apiKey)
    let authority = FolderAuthority(
      setup: self, codes: codes, keyServer: keys, host: serversHost, files: ExportFiles())
    return try reportingConsoleErrors {
      try HealthAuthorityConsole(
        configuration, authority: authority, clock: Self.officialsClock, serviceClock: clock,
        randomness: SystemRandomness(), logger: logger)
    }
  }

  /// Checks all settings without creating secrets.
  func checkConsole() throws { _ = try consoleSettings() }

  /// Runs `work` and turns an error of the console into a `CommandFailure`.
  func reportingConsoleErrors<Result>(_ work: () throws -> Result) throws -> Result {
    do { return try work() } catch { throw Self.failure(error) }
  }

  /// The asynchronous variant.
  func reportingConsoleErrors<Result>(_ work: () async throws -> Result) async throws -> Result {
    do { return try await work() } catch { throw Self.failure(error) }
  }

  private static func failure(_ error: any Error) -> any Error {
    guard let error = error as? ConsoleError else { return error }
    return switch error {
    case .configuration, .otherSecret, .newerDatabase: CommandFailure.badInput(error.description)
    case .damagedDatabase, .database:
      CommandFailure(status: .machineFailed, message: error.description)
    }
  }

  private func consoleSecrets() throws -> ConsoleSecrets {
    try folder.consoleSecrets.read(ConsoleSecrets.self, neededBy: folder.consoleDatabase)
      ?? folder.consoleSecrets.create(ConsoleSecrets(randomness: SystemRandomness()))
  }

  private func consoleConfiguration(_ secrets: ConsoleSecrets) throws -> ConsoleConfiguration {
    let settings = try consoleSettings()
    var configuration = ConsoleConfiguration(
      databaseFile: folder.consoleDatabase, secret: secrets.databaseKey)
    configuration.origin = settings.origin
    configuration.appAddress = settings.appAddress.flatMap { URL(string: $0) }
    configuration.trustedProxies = settings.trustedProxies
    return configuration
  }
}

/// The settings of the console: `console/settings.json`, and the defaults.
struct ConsoleSettings: Redacted {
  /// The origin that officials open; `nil` for `http://localhost` with the port.
  var origin: String?
  /// True if the console may listen on other addresses than the loopback address.
  var allowsPlainHTTP = false
  /// The page that opens the app with a code.
  var appAddress: String?
  /// The verification server, if it does not run in this process.
  var verificationURL: String?
  /// The admin API key for it.
  var apiKey: String?
  var trustedProxies = TrustedProxies.none
  var logLevel = Logger.Level.error

  /// Reads `file`.
  ///
  /// - Throws: `CommandFailure` that names the file, the field and the values it accepts.
  init(_ file: SettingsFile) throws {
    _ = try file.resolve(Self.table, into: &self, readsFiles: true, options: [:])
    guard (verificationURL == nil) == (apiKey == nil) else {
      try file.naming {
        throw CommandFailure.badInput("verificationURL and apiKeyFile must be set together.")
      }
      return
    }
  }

  /// The addresses that only this machine reaches.
  static let loopbackHosts: Set<String> = ["127.0.0.1", "::1", "localhost"]

  /// The note if the console listens on another address than the servers.
  static let localNote =
    "The console listens on 127.0.0.1 only, so that no password crosses a network unencrypted. If its reverse proxy"
    + " runs on another machine, set origin in console/settings.json to the proxy's https address and"
    + " allowsPlainHTTP to true."

  private static let addressForm = "an https URL, or an http URL of this machine"

  private static func isAddress(_ text: String) -> Bool {
    URL(string: text).map { $0.isEncryptedOrLocal && $0.host() != nil } ?? false
  }

  private static var table: SettingsTable<Self> {
    SettingsTable(rows: [
      .text(
        "origin", \.origin, form: addressForm + ", without a path, in lower case",
        "the address of the console, to whose host name passkeys belong"
      ) { WebAddress($0)?.isOrigin == true },
      .flag(
        "allowsPlainHTTP", \.allowsPlainHTTP,
        "with an `https` `origin`: listen on `--host`, unencrypted, for a proxy on another machine"),
      .text(
        "appAddress", \.appAddress, form: addressForm, "the page that opens the app with a code",
        isAddress),
      .text(
        "verificationURL", \.verificationURL, form: addressForm,
        "the verification server, if it runs elsewhere", isAddress),
      .file("apiKeyFile", required: false, "the file with an admin API key for it") {
        file, settings, place in
        settings.apiKey = try place.secret(file)
      },
      .proxies(\.trustedProxies),
      .logLevel(\.logLevel),
    ])
  }
}

/// The secrets of the console: `console/secrets.json`.
struct ConsoleSecrets: Codable, Redacted {
  /// The secret of the database, 32 bytes.
  let databaseKey: Data
  /// The admin API key for the verification server in the same folder; `nil` until both servers have run in one
  /// process.
  var apiKey: String?

  init(randomness: any Randomness) {
    databaseKey = Data(randomness.bytes(ConsoleConfiguration.secretBytes))
  }
}

/// Creates clients of the verification server: of the server of this process, or of a remote one.
struct CodeSource: Redacted, Sendable {
  let server: VerificationServer?
  /// The address that the servers of this process listen on.
  let host: String
  let localKey: String?
  let remote: URL?
  let remoteKey: String?
  /// The timeout of a response, in seconds; nil for the console's default.
  var responseSeconds: Int64?

  /// The client; waits until the server listens.
  ///
  /// - Throws: `AuthorityFailure.notOffered` if there is no server.
  func client() async throws(AuthorityFailure) -> CodeClient {
    if let remote, let remoteKey,
      let client = CodeClient(
        server: remote, apiKey: remoteKey, responseSeconds: responseSeconds)
    {
      return client
    }
    if let server, let localKey,
      let url = FolderAuthority.url(host: host, port: await server.boundPort),
      let client = CodeClient(
        server: url, apiKey: localKey, isOwnProcess: true, responseSeconds: responseSeconds)
    {
      return client
    }
    throw .notOffered(
      "No verification server is known: set verificationURL and apiKeyFile in"
        + " console/settings.json, then restart the console.")
  }
}
