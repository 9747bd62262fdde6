// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import TextEncodings
import VerificationServer
import World

/// `firebreak verification-server`: administration of the verification server, also while it runs.
struct VerificationServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verification-server",
    abstract: "Administer the verification server: keys and settings.",
    subcommands: [
      APIKeyCommand.self, ApiTokenCommand.self,
      SettingsCommand<AdministeredVerificationServer>.self,
      SigningKeyCommand<AdministeredVerificationServer>.self,
      ClockCommand<AdministeredVerificationServer>.self,
    ])
}

/// `api-key`: the keys of apps and officials that call the verification server in Google's contract.
struct APIKeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-key", abstract: "Add, list and revoke API keys.",
    subcommands: [APIKeyAddCommand.self, APIKeyListCommand.self, APIKeyRevokeCommand.self])
}

/// `api-key add`
struct APIKeyAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a key and show it once; the server stores only its hash.")

  private struct Report: Encodable {
    let type: String
    let name: String
    let apiKey: String
  }

  @Option(help: ArgumentHelp("The routes that the key opens.", valueName: "device|admin|stats"))
  var type: APIKeyKind

  @Option(help: "The name of its holder.")
  var name = "unnamed"

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let setup = ServerSetup(
      folder: try ServerFolder(existing: options.data, of: .verification), options: options)
    let key = try await setup.reportingErrors {
      try await setup.apiKeys().add(kind: type, name: name)
    }
    try json
      ? printJSON(Report(type: type.rawValue, name: name, apiKey: key))
      : StandardOutput.write(key)
  }
}

extension APIKeyKind: ExpressibleByArgument {}

/// `api-key list`
struct APIKeyListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the ids of all keys, revoked ones too.")

  private struct Report: Encodable {
    let apiKeys: [Entry]
  }

  private struct Entry: Encodable {
    let id: String
    let type: String
    let name: String
    let createdAt: Int64
    let revokedAt: Int64?
  }

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let folder = try ServerFolder(existing: options.data, of: .verification)
    let setup = ServerSetup(folder: folder, options: options)
    let entries = try await setup.reportingErrors { try await setup.existingAPIKeys().list() }.map {
      Entry(
        id: $0.id, type: $0.kind.rawValue, name: $0.name,
        createdAt: $0.createdAt.unixSecond,
        revokedAt: $0.revokedAt.map(\.unixSecond))
    }
    guard !json else { return try printJSON(Report(apiKeys: entries)) }
    let lines = entries.map {
      "\($0.id) \($0.type) \($0.name)" + ($0.revokedAt == nil ? "" : " (revoked)")
    }
    try StandardOutput.write(lines.isEmpty ? "There are no keys." : lines.joined(separator: "\n"))
  }
}

/// `api-key revoke ID`
struct APIKeyRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Revoke a key; exit code 1 if there is no key with this id.")

  private struct Report: Encodable {
    let id: String
    let revoked: Bool
  }

  @Argument(help: "The id, as `api-key list` shows it: the first part of the key.")
  var id: String

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let folder = try ServerFolder(existing: options.data, of: .verification)
    let setup = ServerSetup(folder: folder, options: options)
    let isRevoked = try await setup.reportingErrors {
      try await setup.existingAPIKeys().revoke(id)
    }
    if json { try printJSON(Report(id: id, revoked: isRevoked)) }
    guard isRevoked else {
      throw CommandFailure(
        status: .no, message: "There is no key \(id.printable): see `api-key list`.")
    }
    if !json { try StandardOutput.write("Revoked \(id).") }
  }
}

/// `api-token`: the tokens of systems that issue codes in the ProteGO Safe contract.
struct ApiTokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-token",
    abstract: "Show the tokens for issuing codes in the ProteGO Safe contract.",
    discussion:
      "With --add a new one is created first; the server accepts it after SIGHUP or a restart.")

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
    let folder = try ServerFolder(existing: options.data, of: .verification)
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

  /// Tokens of the former keys are refused; there is nothing to sign again.
  static func signAgain(of setup: ServerSetup) async throws -> [String] { [] }

  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey {
    SecretSigningKey(keyID: "t\(keys.count + 1)", keyVersion: nil, validFrom: from)
  }

  static func checkSettings(of setup: ServerSetup) throws { try setup.checkVerification() }
}
