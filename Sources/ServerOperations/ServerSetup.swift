// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import Settings
import Terminal
import TextEncodings
import UploadToken
import VerificationServer
import World

/// Creates the servers of one folder from its settings, its secrets and the overrides of the settings, and opens their
/// databases for operations.
package struct ServerSetup: Sendable {
  package let folder: ServerFolder
  package let overrides: SettingOverrides
  package let clock: any WallClock
  /// Tells the operator what needs attention although the operation succeeds.
  let warn: @Sendable (String) -> Void

  /// - Parameter warn: Receives the sentences that tell the operator what needs attention.
  package init(
    folder: ServerFolder, overrides: SettingOverrides = SettingOverrides(),
    clock: any WallClock = SystemClock(), warn: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.folder = folder
    self.overrides = overrides
    self.clock = clock
    self.warn = warn
  }

  /// Throws if the key server would reject all tokens of the verification server.
  package func requireMatchingNames() throws {
    let (issued, accepted) = (try verificationSettings(), try keySettings().configuration)
    guard issued.issuer == accepted.tokenIssuer, issued.audience == accepted.tokenAudience else {
      throw OperationFailure.badInput(
        "The servers do not know each other: set issuer and audience in"
          + " \(folder.verificationSettings.url.path.printable) to tokenIssuer and tokenAudience in"
          + " \(folder.keySettings.url.path.printable).")
    }
  }

  /// Confirms the time of `clock` in the databases that exist: a developer sets the clock on purpose.
  package func confirmClock() throws {
    for server in [ServerName.verification, .keys].map(folder.server)
    where FileManager.default.fileExists(atPath: server.database.path) {
      try server.confirm(clock.now)
    }
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

  /// Runs `work` and turns an error of a server or of the console into an `OperationFailure`.
  package func reportingErrors<Result>(_ work: () throws -> Result) throws -> Result {
    do { return try work() } catch { throw operationFailure(error) }
  }

  /// The asynchronous variant.
  package func reportingErrors<Result>(_ work: () async throws -> Result) async throws -> Result {
    do { return try await work() } catch { throw operationFailure(error) }
  }

  /// The secrets and the database must come from the same backup.
  private func otherSecrets(_ secrets: URL, _ database: URL) -> OperationFailure {
    .badInput(
      "\(secrets.path.printable) does not belong to \(database.path.printable): move the folder away and"
        + " restore both from one backup.")
  }

  private func operationFailure(_ error: any Error) -> any Error {
    switch error {
    case let error as KeyServerError:
      switch error {
      case .configuration, .newerDatabase: OperationFailure.badInput(error.description)
      case .otherDatabaseKey: otherSecrets(folder.keySecrets.url, folder.keyDatabase)
      default: OperationFailure.machineFailed(error.description)
      }
    case let error as VerificationServerError:
      switch error {
      case .badConfiguration, .newerDatabase: OperationFailure.badInput(error.description)
      case .otherCodeHashKey:
        otherSecrets(folder.verificationSecrets.url, folder.verificationDatabase)
      default: OperationFailure.machineFailed(error.description)
      }
    case let error as ConsoleError:
      switch error {
      case .configuration, .otherSecret, .newerDatabase:
        OperationFailure.badInput(error.description)
      case .damagedDatabase, .database: OperationFailure.machineFailed(error.description)
      }
    default: error
    }
  }
}

// MARK: - The verification server

extension ServerSetup {
  /// The verification server, which listens when it is run.
  ///
  /// - Throws: `OperationFailure` if the folder, the settings or the options are not valid.
  package func verificationServer(host: String, port: Int, logger: Logger) throws
    -> VerificationServer
  {
    try checked(folder.verificationSettings) {
      var configuration = try verificationConfiguration()
      configuration.host = host
      configuration.port = port
      return try VerificationServer(
        configuration: configuration, clock: clock, randomness: SystemRandomness(),
        logger: logger)
    }
  }

  /// Runs an operation on the API keys of the verification server, whether or not it runs.
  ///
  /// - Parameter isNew: True if the database may be created.
  /// - Throws: `OperationFailure` if there is no database and it may not be created.
  package func withAPIKeys<Value>(
    isNew: Bool = false, _ work: (APIKeys) async throws -> Value
  ) async throws -> Value {
    if !isNew { try requireVerificationDatabase() }
    let keys = try checked(folder.verificationSettings) {
      try APIKeys(
        configuration: verificationConfiguration(), clock: clock,
        randomness: SystemRandomness())
    }
    return try await reportingErrors { try await work(keys) }
  }

  private func requireVerificationDatabase() throws {
    guard try VerificationSecrets.stored(in: folder) != nil,
      FileManager.default.fileExists(atPath: folder.verificationDatabase.path)
    else {
      throw OperationFailure.badInput(
        "The verification server of \(folder.url.path.printable) has no keys yet: add one, or start it"
          + " first.")
    }
  }

  /// The tokens of systems that issue codes in the ProteGO Safe contract; `nil` if there are none yet.
  package func apiTokens() throws -> [String]? {
    try VerificationSecrets.stored(in: folder)?.apiTokens
  }

  /// Adds a token, which a running server accepts after SIGHUP or a restart.
  ///
  /// - Returns: All tokens.
  package func addAPIToken() throws -> [String] {
    let file = folder.verificationSecrets
    return try file.withLock {
      var secrets = try VerificationSecrets.storedOrNew(in: folder)
      secrets.apiTokens.append(VerificationSecrets.newToken(SystemRandomness()))
      try file.replace(secrets)
      return secrets.apiTokens
    }
  }

  /// The ids of the public keys of tokens; none before the first start of the verification server.
  package var tokenKeyIDs: [String] {
    // Before the first start there is no file.
    ((try? folder.tokenPublicKeys.read()) ?? [:]).keys.sorted()
  }

  /// The settings without the secrets in the files that they name.
  package func verificationSettings() throws -> VerificationServerSettings {
    try VerificationServerSettings(
      folder.verificationSettings, overrides: overrides, readsFiles: false)
  }

  /// Secrets are created if there are none yet.
  private func verificationConfiguration() throws -> VerificationServerConfiguration {
    let settings = try VerificationServerSettings(folder.verificationSettings, overrides: overrides)
    let (file, tokenKeys) = (folder.verificationSecrets, folder.tokenPublicKeys)
    let secrets = try VerificationSecrets.storedOrNew(in: folder)
    try tokenKeys.write(secrets.signingKeys, at: clock.now)
    var configuration = settings.configuration
    configuration.databaseFile = folder.verificationDatabase
    configuration.apiTokens = secrets.apiTokens
    configuration.codeHashKey = Array(secrets.codeHashKey)
    configuration.signing = UploadTokenIssuer(
      keys: try secrets.tokenKeys, issuer: settings.issuer, audience: settings.audience)
    configuration.readSigningKeys = { [folder, clock] in
      guard let secrets = try VerificationSecrets.stored(in: folder) else {
        throw OperationFailure.badInput("\(file.url.path) is missing: restore a backup.")
      }
      let keys = try secrets.tokenKeys
      // Written before the keys sign: the key server reads the file when it sees an unknown key id.
      try tokenKeys.write(secrets.signingKeys, at: clock.now)
      return keys
    }
    return configuration
  }
}

// MARK: - The key server

extension ServerSetup {
  /// The key server, which listens when it is run.
  ///
  /// - Throws: `OperationFailure` if the folder, the settings or the options are not valid.
  package func keyServer(
    host: String = "127.0.0.1", port: Int = 0, logger: Logger
  ) throws -> KeyServer {
    try checked(folder.keySettings) {
      var configuration = try keyConfiguration()
      configuration.host = host
      configuration.port = port
      return try KeyServer(
        configuration, clock: clock, randomness: SystemRandomness(), logger: logger)
    }
  }

  /// Runs `work` on the stored apps and authorities, whose database is created if there is none yet. Changes cannot
  /// replace those of the settings.
  package func withRegistry<Value>(
    _ work: (KeyServerRegistry) async throws -> Value
  ) async throws -> Value {
    try await reportingErrors {
      try await work(
        try KeyServerRegistry(
          databaseFile: folder.keyDatabase, configuration: keySettings().configuration,
          clock: clock))
    }
  }

  /// Creates the secrets, the root key and the device configuration of the key server if there are none yet: a server
  /// with a database and without secrets would not start.
  package func prepareKeyServer() throws { _ = try keySecrets() }

  /// The device configuration of the key server.
  package var deviceConfiguration: DeviceConfigurationFiles {
    DeviceConfigurationFiles(folder: folder, clock: clock, warn: warn)
  }

  /// The settings without the secrets in the files that they name.
  package func keySettings() throws -> KeyServerSettings {
    try KeyServerSettings(folder.keySettings, overrides: overrides, readsFiles: false)
  }

  /// Throws if the key server would accept keys that no export includes.
  package func checkExports() throws {
    try checked(folder.keySettings) {
      if let fault = try keySettings().configuration.settingWithoutExport {
        throw KeyServerError.configuration(fault)
      }
    }
  }

  /// Secrets are created if there are none yet.
  private func keyConfiguration() throws -> KeyServerConfiguration {
    let settings = try KeyServerSettings(folder.keySettings, overrides: overrides)
    let (folder, tokenKeys) = (folder, folder.tokenPublicKeys)
    let keys = try keySecrets()
    try requireValidKey(keys)
    if let verification = try folder.verificationSecrets.read(VerificationSecrets.self) {
      try tokenKeys.write(verification.signingKeys, at: clock.now)
    }
    var configuration = settings.configuration
    configuration.databaseFile = folder.keyDatabase
    configuration.databaseKey = keys.databaseKey
    configuration.exportFolder = folder.exports
    configuration.tokenPublicKeysPEM = try tokenKeys.read()
    configuration.readTokenPublicKeysPEM = { try tokenKeys.read() }
    configuration.exportSigners = keys.signingKeys.map(\.exportSigner)
    configuration.readExportSigners = {
      try KeySecrets.stored(in: folder)?.signingKeys.map(\.exportSigner) ?? []
    }
    let served = ServedDeviceConfiguration(deviceConfiguration)
    configuration.readDeviceConfiguration = { try served.data() }
    // The token issuer is also the authority that signs certificates in Google's contract, with the same keys.
    configuration.tokenIssuerSeesStatistics = true
    return configuration
  }

  private func requireValidKey(_ keys: KeySecrets) throws {
    let now = clock.now.unixSecond
    let hasValidKey = keys.signingKeys.contains {
      $0.validFrom ?? .min <= now && now < $0.validThru ?? .max
    }
    guard !hasValidKey else { return }
    throw OperationFailure.badInput(
      "\(folder.keySecrets.url.path.printable) has no signing key that is valid now: add one with"
        + " `firebreak key-server signing-key add --from \(now)`.")
  }

  /// The secrets of the key server, which are created for its first start, as is its device configuration.
  func keySecrets() throws -> KeySecrets {
    try refuseLostKeyDatabase()
    let file = folder.keySecrets
    return try file.withLock {
      let stored = try KeySecrets.stored(in: folder)
      let keys = try stored ?? KeySecrets(keyID: keySettings().keyID)
      try deviceConfiguration.prepare(keys.signingKeys)
      if stored == nil { try file.replace(keys) }
      return keys
    }
  }

  /// Throws if there are key files and no database: with a new one the server would forget used tokens, and
  /// remove the files.
  private func refuseLostKeyDatabase() throws {
    guard !FileManager.default.fileExists(atPath: folder.keyDatabase.path) else { return }
    let index = folder.exports.appendingPathComponent("index.txt")
    guard let listed = FileManager.default.contents(atPath: index.path), !listed.isEmpty else {
      return
    }
    throw OperationFailure.badInput(
      "\(folder.keyDatabase.path.printable) is missing, and \(folder.exports.path.printable) has its key"
        + " files: restore a backup, or move the key files away to start without them.")
  }

  /// Runs `work` and turns an error of a server into an `OperationFailure`, which names the file of the settings if one
  /// of them is not valid.
  private func checked<Result>(
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
