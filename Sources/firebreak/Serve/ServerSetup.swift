// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import Logging
import ServerStorage
import Terminal
import UploadToken
import VerificationServer
import World

/// Creates the servers of one folder from its settings, its secrets and the options of the command line.
struct ServerSetup {
  let folder: ServerFolder
  let options: ServerOptions
  var clock: any WallClock = SystemClock()

  /// Throws if the key server would reject all tokens of the verification server.
  func requireMatchingNames() throws {
    let (issued, accepted) = (try verificationSettings(), try keySettings().configuration)
    guard issued.issuer == accepted.tokenIssuer, issued.audience == accepted.tokenAudience else {
      throw CommandFailure.badInput(
        "The servers do not know each other: set issuer and audience in"
          + " \(folder.verificationSettings.url.path.printable) to tokenIssuer and tokenAudience in"
          + " \(folder.keySettings.url.path.printable).")
    }
  }

  /// Confirms the time of `clock` in the databases that exist: a developer sets the clock on purpose.
  func confirmClock() throws {
    let databases = [
      (folder.verificationDatabase, VerificationServer.databaseSchema),
      (folder.keyDatabase, KeyServer.databaseSchema),
    ]
    for (database, schema) in databases
    where FileManager.default.fileExists(atPath: database.path) {
      do { try ServerState.confirm(clock.now, in: database, schema: schema) } catch {
        throw CommandFailure(error, of: schema)
      }
    }
  }

  /// Runs `work` and turns an error of a server into a `CommandFailure`.
  func reportingErrors<Result>(_ work: () throws -> Result) throws -> Result {
    do { return try work() } catch { throw commandFailure(error) }
  }

  /// The asynchronous variant.
  func reportingErrors<Result>(_ work: () async throws -> Result) async throws -> Result {
    do { return try await work() } catch { throw commandFailure(error) }
  }

  /// The secrets and the database must come from the same backup.
  private func otherSecrets(_ secrets: URL, _ database: URL) -> CommandFailure {
    .badInput(
      "\(secrets.path.printable) does not belong to \(database.path.printable): move the folder away and"
        + " restore both from one backup.")
  }

  private func commandFailure(_ error: any Error) -> any Error {
    switch error {
    case let error as KeyServerError:
      switch error {
      case .configuration, .newerDatabase: CommandFailure.badInput(error.description)
      case .otherDatabaseKey: otherSecrets(folder.keySecrets.url, folder.keyDatabase)
      default:
        CommandFailure(status: .machineFailed, message: error.description)
      }
    case let error as VerificationServerError:
      switch error {
      case .badConfiguration, .newerDatabase: CommandFailure.badInput(error.description)
      case .otherCodeHashKey:
        otherSecrets(folder.verificationSecrets.url, folder.verificationDatabase)
      default:
        CommandFailure(status: .machineFailed, message: error.description)
      }
    default: error
    }
  }
}

// MARK: - The verification server

extension ServerSetup {
  /// The verification server, which listens when it is run.
  ///
  /// - Throws: `CommandFailure` if the folder, the settings or the options are not valid.
  func verificationServer(host: String, port: Int, logger: Logger) throws -> VerificationServer {
    try checked(folder.verificationSettings) {
      var configuration = try verificationConfiguration()
      configuration.host = host
      configuration.port = port
      return try VerificationServer(
        configuration: configuration, clock: clock, randomness: SystemRandomness(),
        logger: logger)
    }
  }

  /// The API keys of the verification server, whether or not it runs.
  func apiKeys() throws -> APIKeys {
    try checked(folder.verificationSettings) {
      try APIKeys(
        configuration: verificationConfiguration(), clock: clock,
        randomness: SystemRandomness())
    }
  }

  /// The API keys for commands that create nothing: throws if there is no database yet.
  func existingAPIKeys() throws -> APIKeys {
    guard try VerificationSecrets.stored(in: folder) != nil,
      FileManager.default.fileExists(atPath: folder.verificationDatabase.path)
    else {
      throw CommandFailure.badInput(
        "The verification server of \(folder.url.path.printable) has no keys yet: add one, or start it"
          + " first.")
    }
    return try apiKeys()
  }

  /// The settings without the secrets in the files that they name.
  func verificationSettings() throws -> VerificationServerSettings {
    try VerificationServerSettings(
      folder.verificationSettings, options: options, readsFiles: false)
  }

  /// Checks all settings without creating secrets.
  func checkVerification() throws {
    try checked(folder.verificationSettings) {
      try VerificationServerSettings(folder.verificationSettings, options: options).configuration
        .check()
    }
  }

  /// Secrets are created if there are none yet.
  private func verificationConfiguration() throws -> VerificationServerConfiguration {
    let settings = try VerificationServerSettings(folder.verificationSettings, options: options)
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
        throw CommandFailure.badInput("\(file.url.path) is missing: restore a backup.")
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
  /// - Throws: `CommandFailure` if the folder, the settings or the options are not valid.
  func keyServer(host: String = "127.0.0.1", port: Int = 0, logger: Logger) throws -> KeyServer {
    try checked(folder.keySettings) {
      var configuration = try keyConfiguration()
      configuration.host = host
      configuration.port = port
      return try KeyServer(
        configuration, clock: clock, randomness: SystemRandomness(), logger: logger)
    }
  }

  /// The stored apps and authorities; changes cannot replace those of the settings.
  func registry() throws -> KeyServerRegistry {
    try KeyServerRegistry(
      databaseFile: folder.keyDatabase, configuration: keySettings().configuration, clock: clock)
  }

  /// The settings without the secrets in the files that they name.
  func keySettings() throws -> KeyServerSettings {
    try KeyServerSettings(folder.keySettings, options: options, readsFiles: false)
  }

  /// Checks all settings without creating secrets.
  func checkKeys() throws {
    try checked(folder.keySettings) {
      try KeyServerSettings(folder.keySettings, options: options).configuration.checked()
    }
  }

  /// Throws if the key server would accept keys that no export includes.
  func checkExports() throws {
    try checked(folder.keySettings) {
      if let fault = try keySettings().configuration.settingWithoutExport {
        throw KeyServerError.configuration(fault)
      }
    }
  }

  /// Secrets are created if there are none yet.
  private func keyConfiguration() throws -> KeyServerConfiguration {
    let settings = try KeyServerSettings(folder.keySettings, options: options)
    let (folder, tokenKeys) = (folder, folder.tokenPublicKeys)
    let documents = DeviceConfigurationFiles(folder: folder, clock: clock)
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
    let served = ServedDeviceConfiguration(documents)
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
    throw CommandFailure.badInput(
      "\(folder.keySecrets.url.path.printable) has no signing key that is valid now: add one with"
        + " `firebreak key-server signing-key add --from \(now)`.")
  }

  /// The secrets of the key server, which are created for its first start, as is its device configuration.
  func keySecrets() throws -> KeySecrets {
    try folder.refuseLostKeyDatabase()
    let file = folder.keySecrets
    return try file.withLock {
      let stored = try KeySecrets.stored(in: folder)
      let keys = try stored ?? KeySecrets(keyID: keySettings().keyID)
      try DeviceConfigurationFiles(folder: folder, clock: clock).prepare(keys.signingKeys)
      if stored == nil { try file.replace(keys) }
      return keys
    }
  }

  /// Runs `work` and turns an error of a server into a `CommandFailure`, which names the file of the settings if one of
  /// them is not valid.
  private func checked<Result>(
    _ settings: SettingsFile, _ work: () throws -> Result
  ) throws -> Result {
    try reportingErrors {
      try settings.naming {
        do {
          return try work()
        } catch let error as KeyServerError where error.isOfSettings {
          throw commandFailure(error)
        } catch let error as VerificationServerError where error.isOfSettings {
          throw commandFailure(error)
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
