// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Settings
import Terminal
import UploadToken
import VerificationServer
import World

/// The verification server of the folder, and its keys.
extension ServerSetup {
  /// The verification server, which listens when it is run.
  ///
  /// - Throws: `OperationFailure` if the folder, the settings or the overrides are not valid.
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
