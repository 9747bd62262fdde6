// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import Logging
import ObjectStore
import Settings
import Terminal
import World

/// The key server of the folder, its register and its keys.
extension ServerSetup {
  /// The key server, which listens when it is run.
  ///
  /// - Throws: `CommandFailure` if the folder, the settings or the overrides are not valid.
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

  /// Runs `work` on the stored apps and authorities. Changes cannot replace those of the settings.
  ///
  /// - Parameter isNew: True if the database may be created. The secrets are then created first, because a server
  ///   with a database and without secrets would not start.
  /// - Throws: `CommandFailure` if there is no database and it may not be created.
  package func withRegistry<Value>(
    isNew: Bool = false, _ work: (KeyServerRegistry) async throws -> Value
  ) async throws -> Value {
    if isNew { _ = try keySecrets() } else { try requireRegistry() }
    return try await reportingErrors {
      var configuration = try keySettings().configuration
      try addRealms(to: &configuration)
      configuration.databaseAddress = try databaseAddress(of: .keys)
      return try await work(
        try KeyServerRegistry(
          databaseFile: folder.keyDatabase, configuration: configuration, clock: clock))
    }
  }

  private func requireRegistry() throws {
    guard try KeySecrets.stored(in: folder) != nil, hasDatabase(of: .keys) else {
      throw CommandFailure.badInput(
        "The key server of \(folder.url.path.printable) has no apps and authorities yet: add one, or start it"
          + " first.")
    }
  }

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
      var configuration = try keySettings().configuration
      try addRealms(to: &configuration)
      if let fault = configuration.settingWithoutExport {
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
    configuration.databaseAddress = try databaseAddress(of: .keys)
    configuration.databaseKey = keys.databaseKey
    configuration.exportFolder = folder.exports
    configuration.fileStore = try settings.files.map(fileStore)
    configuration.tokenPublicKeysPEM = try tokenKeys.read()
    configuration.readTokenPublicKeysPEM = { try tokenKeys.read() }
    configuration.exportSigners = try keys.signingKeys.map { try $0.exportSigner() }
    configuration.readExportSigners = {
      try KeySecrets.stored(in: folder)?.signingKeys.map { try $0.exportSigner() } ?? []
    }
    // Of several processes only one may sign it again: `renewDeviceConfiguration()`.
    let served = ServedDeviceConfiguration(deviceConfiguration, renews: database == nil)
    configuration.readDeviceConfiguration = { try served.data() }
    configuration.readPendingWithdrawals = {
      Set(try KeySecrets.stored(in: folder)?.instructions?.withdrawn ?? [])
    }
    if let shared {
      configuration.isCurrent = { shared.isCurrent(.keys) }
      configuration.prepareExport = { try await shared.synchronize(.keys) }
    } else if database != nil {
      // A command has waited for the lease since it compared the folder.
      configuration.prepareExport = { [self] in try await synchronize(.keys) }
    }
    // The token issuer is also the authority that signs certificates in Google's contract, with the same keys.
    configuration.tokenIssuerSeesStatistics = true
    try addRealms(to: &configuration)
    return configuration
  }

  /// The object store at `address`, with the credentials of the folder or the environment.
  private func fileStore(at address: String) throws -> KeyFileStore {
    do {
      return KeyFileStore(
        location: try S3Location(address),
        credentials: try S3Credentials(
          file: folder.fileCredentials, environment: environment))
    } catch let error as S3Location.Invalid {
      throw CommandFailure.badInput("\(error)")
    } catch let error as S3Credentials.Invalid {
      throw CommandFailure.badInput(error.description.printable)
    }
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
    try refuseLostKeyDatabase()
    let file = folder.keySecrets
    return try file.withLock {
      let stored = try KeySecrets.stored(in: folder)
      let keys = try stored ?? KeySecrets(keyID: keySettings().keyID)
      try deviceConfiguration.prepare(keys.signingKeys, renews: database == nil)
      if stored == nil { try file.replace(keys) }
      return keys
    }
  }

  /// Throws if there are key files and no database: with a new one the server would forget used tokens, and
  /// remove the files.
  private func refuseLostKeyDatabase() throws {
    // A database in PostgreSQL is looked at when it is opened.
    guard database == nil, !hasDatabase(of: .keys), hasListedFiles else { return }
    throw CommandFailure.badInput(
      "\(folder.keyDatabase.path.printable) is missing, and \(folder.exports.path.printable) has its key"
        + " files: restore a backup, or move the key files away to start without them.")
  }
}
