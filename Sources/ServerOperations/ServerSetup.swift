// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import PostgreSQL
import Settings
import Terminal
import TextEncodings
import VerificationServer
import World

/// Creates the servers of one folder from its settings, its secrets and the overrides of the settings, and opens their
/// databases for operations.
package struct ServerSetup: Sendable {
  package let folder: ServerFolder
  package let overrides: SettingOverrides
  /// The PostgreSQL cluster of the servers' databases; nil for the SQLite databases in the folder.
  package let database: PostgreSQLAddress?
  package let clock: any WallClock
  /// The folders of a process that runs servers, which follow the databases in PostgreSQL; nil for commands.
  package var shared: SharedFolders?
  /// The environment variables of the process, from which credentials of the object store are taken.
  let environment: [String: String]
  /// Tells the operator what needs attention although the operation succeeds.
  let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - folder: The folder of settings, secrets and files.
  ///   - overrides: Values that replace those of the settings.
  ///   - database: The PostgreSQL cluster of the servers' databases; nil for the SQLite databases in the folder.
  ///   - clock: The clock of the servers.
  ///   - environment: The environment variables with the credentials of the object store.
  ///   - warn: Receives the sentences that tell the operator what needs attention.
  package init(
    folder: ServerFolder, overrides: SettingOverrides = SettingOverrides(),
    database: PostgreSQLAddress? = nil,
    clock: any WallClock = SystemClock(), environment: [String: String] = [:],
    warn: @escaping @Sendable (String) -> Void
  ) {
    self.folder = folder
    self.overrides = overrides
    self.database = database
    self.clock = clock
    self.environment = environment
    self.warn = warn
  }

  /// Throws if the key server would reject all tokens of the verification server.
  package func requireMatchingNames() throws {
    let (issued, accepted) = (try verificationSettings(), try keySettings().configuration)
    guard issued.issuer == accepted.tokenIssuer, issued.audience == accepted.tokenAudience else {
      throw CommandFailure.badInput(
        "The servers do not know each other: set issuer and audience in"
          + " \(folder.verificationSettings.url.path.printable) to tokenIssuer and tokenAudience in"
          + " \(folder.keySettings.url.path.printable).")
    }
  }

  /// Confirms the time of `clock` in the databases that exist: a developer sets the clock on purpose.
  package func confirmClock() async throws {
    for server in serversWithClock { try await confirmClock(of: server) }
  }

  /// Checks all settings of a server without creating secrets.
  package func check(_ server: ServerName) throws {
    switch server {
    case .verification:
      try checked(folder.verificationSettings) {
        try VerificationServerSettings(folder.verificationSettings, overrides: overrides)
          .configuration.check()
      }
    case .keys:
      try checked(folder.keySettings) {
        try KeyServerSettings(folder.keySettings, overrides: overrides).configuration.checked()
      }
    case .console: _ = try consoleSettings()
    }
  }

  /// The settings of the file, the overrides and the defaults, without the files that they name.
  package func settingsInForce(of server: ServerName) throws -> JSONValue {
    switch server {
    case .verification: try verificationSettings().inForce
    case .keys: try keySettings().inForce
    case .console: try ConsoleSettings(folder.consoleSettings, readsFiles: false).inForce
    }
  }

  /// Runs `work` and turns an error of a server or of the console into a `CommandFailure`.
  package func reportingErrors<Result>(_ work: () throws -> Result) throws -> Result {
    do { return try work() } catch { throw operationFailure(error) }
  }

  /// The asynchronous variant.
  package func reportingErrors<Result>(_ work: () async throws -> Result) async throws -> Result {
    do { return try await work() } catch { throw operationFailure(error) }
  }

  /// The secrets and the database must come from the same backup.
  func otherSecrets(_ secrets: URL, of server: ServerName) -> CommandFailure {
    guard database == nil else {
      return .badInput(
        "\(secrets.path.printable) does not belong to the database \(folder.server(server).postgreSQLName): copy the"
          + " secrets of the servers that use it.")
    }
    let database = folder.server(server).database.path.printable
    return .badInput(
      "\(secrets.path.printable) does not belong to \(database): move the folder away and restore both from one"
        + " backup.")
  }

  private func operationFailure(_ error: any Error) -> any Error {
    switch error {
    case let error as KeyServerError:
      switch error {
      case .configuration, .newerDatabase, .emptyDatabase, .deniedDatabase:
        CommandFailure.badInput(error.description)
      case .otherDatabaseKey: otherSecrets(folder.keySecrets.url, of: .keys)
      default: CommandFailure.machineFailed(error.description)
      }
    case let error as VerificationServerError:
      switch error {
      case .badConfiguration, .newerDatabase, .emptyDatabase, .deniedDatabase:
        CommandFailure.badInput(error.description)
      case .otherCodeHashKey:
        otherSecrets(folder.verificationSecrets.url, of: .verification)
      default: CommandFailure.machineFailed(error.description)
      }
    case let error as ConsoleError:
      switch error {
      case .otherSecret where database != nil:
        otherSecrets(folder.consoleSecrets.url, of: .console)
      case .configuration, .otherSecret, .newerDatabase, .emptyDatabase, .deniedDatabase:
        CommandFailure.badInput(error.description)
      case .damagedDatabase, .database, .unreachableDatabase:
        CommandFailure.machineFailed(error.description)
      }
    default: error
    }
  }
}

extension ServerSetup {
  /// Runs `work` and turns an error of a server into a `CommandFailure`, which names the file of the settings if one
  /// of them is not valid.
  func checked<Result>(
    _ settings: SettingsFile, _ work: () throws -> Result
  ) throws -> Result {
    try reportingErrors {
      try settings.naming {
        do {
          return try work()
        } catch let error as KeyServerError where error.isOfSettings {
          throw operationFailure(error)
        } catch let error as VerificationServerError where error.isOfSettings {
          throw operationFailure(error)
        }
      }
    }
  }
}

extension KeyServerError {
  /// True if a setting is not valid.
  fileprivate var isOfSettings: Bool {
    if case .configuration = self { true } else { false }
  }
}

extension VerificationServerError {
  /// True if a setting is not valid.
  fileprivate var isOfSettings: Bool {
    if case .badConfiguration = self { true } else { false }
  }
}
