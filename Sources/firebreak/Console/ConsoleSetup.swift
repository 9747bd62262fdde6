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
  func consoleAdministration() async throws -> ConsoleAdministration {
    try await completeAuditUpgrade()
    return try consoleAdministration(consoleSecrets())
  }

  /// The console's audit log, for commands that only read it.
  func consoleAudit() throws -> ConsoleAdministration {
    try ConsoleAdministration(reading: consoleConfiguration(consoleSecrets()))
  }

  private func consoleAdministration(_ secrets: ConsoleSecrets) throws -> ConsoleAdministration {
    try ConsoleAdministration(
      consoleConfiguration(secrets), clock: Self.officialsClock, randomness: SystemRandomness())
  }

  /// Stores the start of the audit log with the secret, once: new secrets have it already. So entries without a key are
  /// accepted only in the log that the first start of this version has found.
  ///
  /// - Parameter warn: Reports the entries without a key that are accepted. Secrets that were restored from before this
  ///   version accept those of the log again.
  private func completeAuditUpgrade(_ warn: @Sendable (String) -> Void = { note($0) }) async throws
  {
    guard try consoleSecrets().auditStart == nil else { return }
    try await FolderLock.withLock(on: folder.console) {
      var secrets = try consoleSecrets()
      guard secrets.auditStart == nil else { return }
      let start = try await consoleAdministration(secrets).completeAuditUpgrade()
      secrets.auditStart = start
      try folder.consoleSecrets.replace(secrets)
      guard start != .empty else { return }
      warn(
        "audit log: \(start.entries) entries without a key accepted, head \(start.head); compare with"
          + " your last head")
    }
  }

  /// Creates what the console needs before it starts: its secrets, and its API key for the verification server of
  /// this folder.
  ///
  /// - Parameter hasVerification: True if the verification server runs in the same process.
  func prepareConsole(hasVerification: Bool, logger: Logger) async throws {
    try await reportingConsoleErrors {
      try await completeAuditUpgrade { logger.warning("\($0)") }
    }
    guard hasVerification else { return }
    // A backup has either none of the key, or both the key's row and the secret.
    try await FolderLock.withLock(on: folder.console) { try await replaceInvalidAPIKey() }
  }

  private func replaceInvalidAPIKey() async throws {
    var secrets = try consoleSecrets()
    let keys = try apiKeys()
    let id = secrets.apiKey?.split(separator: ".").first.map(String.init)
    let isValid = try await reportingErrors {
      try await keys.list().contains { $0.id == id && $0.revokedAt == nil }
    }
    guard !isValid else { return }
    let new = try await reportingErrors { try await keys.add(kind: .admin, name: "console") }
    secrets.apiKey = new
    try folder.consoleSecrets.replace(secrets)
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
    configuration.auditStart = secrets.auditStart
    configuration.origin = settings.origin
    configuration.appAddress = settings.appAddress.flatMap { URL(string: $0) }
    configuration.trustedProxies = settings.trustedProxies
    return configuration
  }
}

/// The secrets of the console: `console/secrets.json`.
struct ConsoleSecrets: Codable, Redacted {
  /// The secret of the database, 32 bytes.
  let databaseKey: Data
  /// The admin API key for the verification server in the same folder; `nil` until both servers have run in one
  /// process.
  var apiKey: String?
  /// The start of the audit log; nil until this version has used the secrets of a version before it.
  var auditStart: AuditStart?

  init(randomness: any Randomness) {
    databaseKey = Data(randomness.bytes(ConsoleConfiguration.secretBytes))
    auditStart = .empty
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
