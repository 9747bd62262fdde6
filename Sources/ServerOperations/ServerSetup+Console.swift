// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import Secrets
import Settings
import Terminal
import TextEncodings
import VerificationServer
import World

/// The console of the folder, and the data that it needs.
extension ServerSetup {
  /// The clock of sign-ins, sessions and the audit log. It is the machine's clock also in a rehearsal, because one-time
  /// codes follow the clock of the official's phone.
  private static let officialsClock = SystemClock()

  package func consoleSettings() throws -> ConsoleSettings {
    try ConsoleSettings(folder.consoleSettings)
  }

  /// Runs an operation on the console's database.
  ///
  /// - Parameter isNew: True if the database may be created.
  /// - Throws: `CommandFailure` if there is no database and it may not be created.
  package func withConsole<Value>(
    isNew: Bool = false, _ work: (ConsoleAdministration) async throws -> Value
  ) async throws -> Value {
    if !isNew { try requireConsoleDatabase() }
    return try await reportingErrors {
      try await completeAuditUpgrade(warn)
      let administration = try consoleAdministration(consoleSecrets())
      try await administration.openDatabase()
      return try await work(administration)
    }
  }

  /// Adds an account, also before the first start of the servers: their folder is created if it is missing or empty.
  ///
  /// - Throws: `CommandFailure`, before anything is created if the name or the settings are not valid.
  package func addAccount(
    name: String, role: Role
  ) async throws -> ConsoleAdministration.Credentials {
    let name = try reportingErrors { try ConsoleAdministration.accountName(name) }
    _ = try consoleSettings()
    let isNew = !folder.exists
    try folder.prepare()
    let credentials = try await withConsole(isNew: true) {
      try await $0.addAccount(name: name, role: role)
    }
    // A later start without the address would create an empty file.
    if database != nil { try folder.server(.console).recordPostgreSQL() }
    if isNew {
      let path = folder.url.path.printable
      warn("The folder \(path) is new: start its servers with `firebreak serve --data \(path)`.")
    }
    return credentials
  }

  /// The console's audit log, for operations that only read it.
  ///
  /// - Throws: `CommandFailure` if the console has no database yet.
  package func consoleAudit() throws -> ConsoleAdministration {
    try requireConsoleDatabase()
    return try ConsoleAdministration(reading: consoleConfiguration(consoleSecrets()))
  }

  private func requireConsoleDatabase() throws {
    let secrets = try folder.consoleSecrets.read(
      ConsoleSecrets.self, neededBy: folder.consoleDatabase)
    guard secrets == nil || !hasDatabase(of: .console) else { return }
    throw CommandFailure.badInput(
      "The console of \(folder.url.path.printable) has no database yet: add an account first.")
  }

  /// Opens the console's database in PostgreSQL, so that errors are known before the console listens.
  func openConsoleDatabase() async throws {
    try await consoleAdministration(consoleSecrets()).openDatabase()
  }

  /// Ends all sessions and links of a restored console: those of the backup may have been ended after it.
  func endConsoleSessions() async throws {
    try await reportingErrors { try await consoleAdministration(consoleSecrets()).endSessions() }
  }

  /// The accounts of a restored console before it takes anything over.
  func accountsOfBackup() async throws -> AccountsOfBackup {
    try await reportingErrors {
      try await consoleAdministration(consoleSecrets()).accountsOfBackup()
    }
  }

  /// The changes of accounts and the decided requests in a database that the console had before its restoration.
  func changesOfAccounts(
    in earlier: URL, hasContinued: Bool, since backup: AccountsOfBackup
  ) async throws -> EarlierConsole {
    try await reportingErrors {
      var configuration = try consoleConfiguration(consoleSecrets())
      configuration.databaseFile = earlier
      configuration.databaseAddress = nil
      return try await ConsoleAdministration(reading: configuration)
        .changes(since: backup, hasContinued: hasContinued)
    }
  }

  /// Lets a restored console take over changes of accounts and decided requests.
  func takeOverAccounts(
    from earlier: [EarlierConsole], since backup: AccountsOfBackup
  ) async throws -> RestoredAccounts {
    try await reportingErrors {
      try await consoleAdministration(consoleSecrets()).takeOver(from: earlier, since: backup)
    }
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
  private func completeAuditUpgrade(_ warn: @Sendable (String) -> Void) async throws {
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
  package func prepareConsole(hasVerification: Bool, logger: Logger) async throws {
    try await reportingErrors {
      try await completeAuditUpgrade { logger.warning("\($0)") }
    }
    guard hasVerification else { return }
    // A backup has either none of the key, or both the key's row and the secret.
    try await FolderLock.withLock(on: folder.console) { try await replaceInvalidAPIKey() }
  }

  private func replaceInvalidAPIKey() async throws {
    var secrets = try consoleSecrets()
    let id = secrets.apiKey?.split(separator: ".").first.map(String.init)
    let new = try await withAPIKeys(isNew: true) { keys -> String? in
      let isValid = try await keys.list().contains { $0.id == id && $0.revokedAt == nil }
      return isValid ? nil : try await keys.add(kind: .admin, name: APIKeys.consoleName)
    }
    guard let new else { return }
    secrets.apiKey = new
    try folder.consoleSecrets.replace(secrets)
  }

  /// The address that the console listens on if the servers listen on `host`. The console speaks plain HTTP, so it is
  /// the loopback address unless an `https` origin and `allowsPlainHTTP` say that a proxy with TLS is in front of it:
  /// passwords must not cross a network unencrypted.
  package func consoleHost(_ host: String) throws -> String {
    return try isConsoleProxied || ConsoleSettings.loopbackHosts.contains(host) ? host : "127.0.0.1"
  }

  /// True if the settings say that a proxy with TLS is in front of the console.
  var isConsoleProxied: Bool {
    get throws {
      let settings = try consoleSettings()
      return settings.allowsPlainHTTP && settings.origin?.hasPrefix("https:") == true
    }
  }

  /// The address that the console listens on with TLS if the servers do so on `host`: the loopback address unless an
  /// `https` origin is set, without which browsers cannot sign in.
  package func consoleTLSHost(_ host: String) throws -> String {
    let isReachable = try consoleSettings().origin?.hasPrefix("https:") == true
    return isReachable || ConsoleSettings.loopbackHosts.contains(host) ? host : "127.0.0.1"
  }

  /// Throws if the consoles of realms would be for this machine only, although servers listen with TLS on `host`.
  package func requireReachableConsoles(tlsHost host: String) throws {
    guard try !folder.realms.isEmpty, try consoleTLSHost(host) != host else { return }
    throw CommandFailure.badInput(
      "The consoles of the realms would be for this machine only: set origin in"
        + " \(folder.consoleSettings.url.path.printable) to the https address of its console, or let --tls-host be"
        + " 127.0.0.1.")
  }

  /// The console, which listens when it is run.
  ///
  /// - Parameters:
  ///   - hosts: Returns the address that a server of this process listens on, or would.
  ///   - hosted: The routes of the consoles of realms, for which it listens.
  ///   - verification: The verification server of this process.
  ///   - realmHost: The host for which that listens, in a realm; nil for its own.
  ///   - keys: The key server of this process.
  package func console(
    hosts: (ServerName) -> String, port: Int, hosted: [HostedRoutes] = [],
    verification: VerificationServer?, realmHost: String? = nil, keys: KeyServer?, logger: Logger
  ) throws -> HealthAuthorityConsole {
    let (secrets, settings) = (try consoleSecrets(), try consoleSettings())
    var configuration = try consoleConfiguration(secrets)
    configuration.host = try consoleHost(hosts(.console))
    configuration.port = port
    configuration.hosted = hosted
    configuration.sendsSMS =
      try verification != nil && verificationSettings().inForce["sms"] != nil
    let codes = CodeSource(
      server: verification, host: hosts(.verification), realmHost: realmHost,
      localKey: secrets.apiKey,
      remote: settings.verificationURL.flatMap { URL(string: $0) }, remoteKey: settings.apiKey)
    let authority = FolderAuthority(
      setup: self, codes: codes, keyServer: keys, host: hosts(.keys), files: ExportFiles(),
      recorded: try settings.windowsFile.map { try PhoneContacts(recordedAt: $0) })
    return try reportingErrors {
      try HealthAuthorityConsole(
        configuration, authority: authority, clock: Self.officialsClock, serviceClock: clock,
        randomness: SystemRandomness(), logger: logger)
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
    configuration.databaseAddress = try databaseAddress(of: .console)
    configuration.auditStart = secrets.auditStart
    configuration.origin = settings.origin
    configuration.appAddress = settings.appAddress.flatMap { URL(string: $0) }
    configuration.trustedProxies = settings.trustedProxies
    if let zone = TimeZone(identifier: settings.timeZone) { configuration.timeZone = zone }
    configuration.linkDays = settings.linkDays
    configuration.auditDestination =
      settings.auditFile.map { .file(URL(fileURLWithPath: $0)) }
      ?? settings.auditSyslog.map { .syslog(path: $0) }
    return configuration
  }
}
