import ArgumentParser
import Foundation
import Terminal
import World

/// `firebreak verification-server`: administration of the verification server, also while it runs.
struct VerificationServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verification-server",
    abstract: "Administer the verification server: keys, settings, backup, restore.",
    subcommands: [
      APIKeyCommand.self, ApiTokenCommand.self,
      SettingsCommand<AdministeredVerificationServer>.self,
      SigningKeyCommand<AdministeredVerificationServer>.self,
      ClockCommand<AdministeredVerificationServer>.self,
      BackupCommand<AdministeredVerificationServer>.self,
      RestoreCommand<AdministeredVerificationServer>.self,
    ])
}

/// `api-token`: the tokens of systems that issue codes in the ProteGO Safe contract.
struct ApiTokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-token",
    abstract: "Show the tokens for issuing codes in the ProteGO Safe contract.",
    discussion: "With --add a new one is created first; the server accepts it after a restart.")

  private struct Report: Encodable {
    let apiTokens: [String]
  }

  @Flag(help: "Create a new token first.")
  var add = false

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let secrets = try add ? adding() : existing()
    try json
      ? printJSON(Report(apiTokens: secrets.apiTokens))
      : StandardOutput.write(secrets.apiTokens.joined(separator: "\n"))
  }

  private func adding() throws -> VerificationSecrets {
    let folder = try ServerFolder(path: options.data)
    let file = folder.verificationSecrets
    return try file.withLock {
      var secrets = try VerificationSecrets.storedOrNew(in: folder)
      secrets.apiTokens.append(Data(SystemRandomness().bytes(24)).base64EncodedString())
      try file.replace(secrets)
      return secrets
    }
  }

  private func existing() throws -> VerificationSecrets {
    let folder = try ServerFolder(existing: options.data, of: .verification)
    guard let secrets = try VerificationSecrets.stored(in: folder) else {
      throw CommandFailure.badInput(
        "The verification server of \(options.data.printable) has no tokens yet: add one, or start it"
          + " first.")
    }
    return secrets
  }
}

/// The verification server, whose keys sign tokens and certificates.
enum AdministeredVerificationServer: AdministeredServer {
  /// Token keys need no further options.
  struct KeyOptions: ParsableArguments {}

  static let commandName = "verification-server"
  static let name = ServerName.verification
  /// The longest lifetime of a token.
  static let overlapSeconds = 86_400
  /// The key server reads the public keys at once when it sees an unknown key id.
  static let leadSeconds = 0

  static func database(of folder: ServerFolder) -> URL { folder.verificationDatabase }

  static func backupFiles(of folder: ServerFolder) -> [URL] {
    [folder.verificationSecrets.url, folder.verificationSettings.url]
  }

  static func settingsInForce(of setup: ServerSetup) throws -> JSONTree {
    try setup.verificationSettings().inForce
  }

  static func secretsFile(of folder: ServerFolder) -> PrivateFile { folder.verificationSecrets }

  static func signingKeys(of folder: ServerFolder) throws -> [SecretSigningKey]? {
    try VerificationSecrets.stored(in: folder)?.signingKeys
  }

  static func signingKeysOrFirst(of setup: ServerSetup) throws -> [SecretSigningKey] {
    try VerificationSecrets.storedOrNew(in: setup.folder).signingKeys
  }

  /// The public keys are written first, so that the key server knows a key before it signs.
  static func store(
    _ keys: [SecretSigningKey], of setup: ServerSetup, options: KeyOptions
  ) throws {
    var secrets = try VerificationSecrets.storedOrNew(in: setup.folder)
    secrets.signingKeys = keys
    try setup.folder.tokenPublicKeys.write(keys, at: SystemClock().now)
    try setup.folder.verificationSecrets.replace(secrets)
  }

  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey {
    SecretSigningKey(keyID: "t\(keys.count + 1)", keyVersion: nil, validFrom: from)
  }

  static func settings(of setup: ServerSetup) throws -> JSONTree {
    try setup.checkVerification()
    return try settingsInForce(of: setup)
  }
}
