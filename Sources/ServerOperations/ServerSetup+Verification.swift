// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import Settings
import Terminal
import TextEncodings
import UploadToken
import VerificationServer
import World

/// The verification server of the folder, and its keys.
extension ServerSetup {
  /// The verification server, which listens when it is run.
  ///
  /// - Parameters:
  ///   - host: The address to listen on.
  ///   - port: The port; 0 for a free one.
  ///   - hosted: The routes of the verification servers of realms, for which it listens.
  ///   - logger: The log of the server.
  /// - Throws: `CommandFailure` if the folder, the settings or the overrides are not valid.
  package func verificationServer(
    host: String, port: Int, hosted: [HostedRoutes] = [], logger: Logger
  ) throws -> VerificationServer {
    try checked(folder.verificationSettings) {
      var configuration = try verificationConfiguration()
      configuration.host = host
      configuration.port = port
      configuration.hosted = hosted
      return try VerificationServer(
        configuration: configuration, clock: clock, randomness: SystemRandomness(),
        logger: logger)
    }
  }

  /// Runs an operation on the API keys of the verification server, whether or not it runs.
  ///
  /// - Parameter isNew: True if the database may be created.
  /// - Throws: `CommandFailure` if there is no database and it may not be created.
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

  /// Revokes an API key, and ends the live codes that were issued with it: a thief may have issued them.
  ///
  /// - Parameter keepsCodes: True if the codes stay valid.
  /// - Returns: The number of ended codes; nil if there is no such key.
  /// - Throws: `CommandFailure`. If the codes cannot be ended, the key is revoked nevertheless.
  package func revokeAPIKey(_ id: String, keepsCodes: Bool = false) async throws -> Int? {
    try await withAPIKeys { keys in
      guard try await keys.revoke(id) else { return nil }
      return keepsCodes ? 0 : try await endCodes(of: id, keys)
    }
  }

  private func endCodes(of id: String?, _ keys: APIKeys) async throws -> Int {
    do {
      return try await keys.endCodes(of: id)
    } catch let error as VerificationServerError where error != .storageUnavailable {
      throw CommandFailure.machineFailed(
        "The codes could not be ended, although what issued them is revoked. \(error) Run the command"
          + " again.")
    } catch {
      throw CommandFailure.machineFailed(
        "The codes could not be ended, although what issued them is revoked: check the disk, then run"
          + " the command again.")
    }
  }

  private func requireVerificationDatabase() throws {
    guard try VerificationSecrets.stored(in: folder) != nil, hasDatabase(of: .verification)
    else {
      throw CommandFailure.badInput(
        "The verification server of \(folder.url.path.printable) has no keys yet: add one, or start it"
          + " first.")
    }
  }

  /// The tokens of systems that issue codes in the ProteGO Safe contract; `nil` if there are none yet.
  package func apiTokens() throws -> [String]? {
    try VerificationSecrets.stored(in: folder)?.apiTokens
  }

  /// Adds a token, which a running server accepts at once.
  ///
  /// - Returns: All tokens.
  package func addAPIToken() async throws -> [String] {
    try await changeAPITokens { $0.addAPIToken($1) }
  }

  /// Replaces all tokens by a new one, because one was stolen, and ends the live codes that were issued with tokens.
  /// A running server rejects the old ones before the codes end.
  ///
  /// - Parameter keepsCodes: True if the codes stay valid.
  /// - Returns: All tokens, and the number of ended codes.
  package func revokeAPITokens(
    keepsCodes: Bool = false
  ) async throws -> (tokens: [String], endedCodes: Int) {
    let tokens = try await changeAPITokens { $0.replaceAPITokens(by: $1) }
    guard !keepsCodes, hasDatabase(of: .verification) else { return (tokens, 0) }
    return (tokens, try await withAPIKeys { try await endCodes(of: nil, $0) })
  }

  /// Changes the tokens, given a new one.
  private func changeAPITokens(
    _ change: (inout VerificationSecrets, String) -> Void
  ) async throws -> [String] {
    let file = folder.verificationSecrets
    return try await sharing(.verification) {
      try file.withLock {
        var secrets = try VerificationSecrets.storedOrNew(in: folder)
        change(&secrets, VerificationSecrets.newToken(SystemRandomness()))
        try file.replace(secrets)
        return secrets.apiTokens
      }
    }
  }

  /// The settings without the secrets in the files that they name.
  package func verificationSettings() throws -> VerificationServerSettings {
    try VerificationServerSettings(
      folder.verificationSettings, overrides: overrides, readsFiles: false)
  }

  /// Stores rules for new codes, which a running server uses from its next code on.
  ///
  /// - Throws: `CommandFailure` that names the rule, if it is not valid or not read from the file.
  package func setIssueRules(_ rules: IssueRules) throws {
    let file = folder.verificationSettings
    var policy = try file.read()?["policy"]?.fields ?? [:]
    policy["shortCodeDigits"] = .integer(rules.shortCodeDigits)
    policy["shortCodeLifetime"] = .number(rules.shortCodeLifetime)
    policy["longCodeLifetime"] = .number(rules.longCodeLifetime)
    policy["requiresDate"] = .bool(rules.requiresDate)
    let values = ["codeLifetime": JSONValue.number(rules.pinLifetime), "policy": .object(policy)]
    let new = try VerificationServerSettings(
      file, overrides: overrides, readsFiles: false, changes: values)
    guard new.configuration.issueRules == rules else {
      throw CommandFailure.badInput(
        "An environment variable sets a rule for codes and replaces \(file.url.path.printable): change it"
          + " there.")
    }
    try file.naming { try reportingErrors { try new.configuration.check() } }
    try file.replace(values)
  }

  /// Secrets are created if there are none yet.
  private func verificationConfiguration() throws -> VerificationServerConfiguration {
    let settings = try VerificationServerSettings(folder.verificationSettings, overrides: overrides)
    let (file, tokenKeys) = (folder.verificationSecrets, folder.tokenPublicKeys)
    let secrets = try VerificationSecrets.storedOrNew(in: folder)
    try tokenKeys.write(secrets.signingKeys, at: clock.now)
    var configuration = settings.configuration
    configuration.databaseFile = folder.verificationDatabase
    configuration.databaseAddress = try databaseAddress(of: .verification)
    configuration.apiTokens = secrets.apiTokens
    configuration.codeHashKey = Array(secrets.codeHashKey)
    configuration.signing = UploadTokenIssuer(
      keys: try secrets.tokenKeys, issuer: settings.issuer, audience: settings.audience)
    let stored: @Sendable () throws -> VerificationSecrets = { [folder] in
      guard let secrets = try VerificationSecrets.stored(in: folder) else {
        throw CommandFailure.badInput("\(file.url.path) is missing: restore a backup.")
      }
      return secrets
    }
    configuration.secretsVersion = { FileVersion(path: file.url.path) }
    let rules = folder.verificationSettings
    configuration.issueRulesVersion = { FileVersion(path: rules.url.path) }
    configuration.readIssueRules = { [overrides] in
      try VerificationServerSettings(rules, overrides: overrides, readsFiles: false)
        .configuration.issueRules
    }
    if let shared { configuration.isCurrent = { shared.isCurrent(.verification) } }
    configuration.readAPITokens = { try stored().apiTokens }
    configuration.readSigningKeys = { [clock] in
      let secrets = try stored()
      let keys = try secrets.tokenKeys
      // Written before the keys sign: the key server reads the file when it sees an unknown key id.
      try tokenKeys.write(secrets.signingKeys, at: clock.now)
      return keys
    }
    return configuration
  }
}
