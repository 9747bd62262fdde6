// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ServerOperations
import Terminal
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

  @Option(
    help: ArgumentHelp("The routes that the key opens.", valueName: "device|admin|stats|canary"))
  var type: APIKeyKind

  @Option(help: "The name of its holder.")
  var name = "unnamed"

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let key = try await servers.setup(of: .verification).withAPIKeys(isNew: true) {
      try await $0.add(kind: type, name: name)
    }
    try report.write(Report(type: type.rawValue, name: name, apiKey: key), key)
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

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let setup = try servers.setup(of: .verification)
    let entries = try await setup.withAPIKeys { try await $0.list() }.map {
      Entry(
        id: $0.id, type: $0.kind.rawValue, name: $0.name,
        createdAt: $0.createdAt.unixSecond,
        revokedAt: $0.revokedAt.map(\.unixSecond))
    }
    let lines = entries.map {
      "\($0.id) \($0.type) \($0.name)" + ($0.revokedAt == nil ? "" : " (revoked)")
    }
    try report.write(
      Report(apiKeys: entries),
      lines.isEmpty ? "There are no keys." : lines.joined(separator: "\n"))
  }
}

/// `api-key revoke ID`
struct APIKeyRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revoke a key and end its codes; exit code 1 if there is no key with this id.",
    discussion: """
      Codes that were issued with the key and are not redeemed end at once, because a thief may have issued them. With \
      --keep-codes they stay valid.
      """)

  private struct Report: Encodable {
    let id: String
    let revoked: Bool
    let endedCodes: Int
  }

  @Argument(help: "The id, as `api-key list` shows it: the first part of the key.")
  var id: String

  @Flag(help: "Let the codes that were issued with the key stay valid.")
  var keepCodes = false

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let ended = try await servers.setup(of: .verification).revokeAPIKey(id, keepsCodes: keepCodes)
    try report.write(
      Report(id: id, revoked: ended != nil, endedCodes: ended ?? 0),
      "Revoked \(id). Ended codes: \(ended ?? 0).", if: ended != nil,
      otherwise: "There is no key \(id.printable): see `api-key list`.")
  }
}

/// `api-token`: the tokens of systems that issue codes in the ProteGO Safe contract.
struct ApiTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-token",
    abstract: "Show the tokens for issuing codes in the ProteGO Safe contract.",
    discussion: """
      With --add a new one is created first. If one was stolen, --replace revokes all of them, creates a new one, and \
      ends the codes that were issued with them and are not redeemed; with --keep-codes these stay valid. A running \
      server follows at once.
      """)

  private struct Report: Encodable {
    let apiTokens: [String]
    /// Absent without --replace.
    var endedCodes: Int?
  }

  @Flag(help: "Create a new token first.")
  var add = false

  @Flag(help: "Revoke all tokens and create a new one first.")
  var replace = false

  @Flag(help: "With --replace, let the codes that were issued with the tokens stay valid.")
  var keepCodes = false

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !add || !replace else { throw ValidationError("--add and --replace exclude each other.") }
    guard replace || !keepCodes else { throw ValidationError("--keep-codes needs --replace.") }
  }

  func run() async throws {
    let setup = try servers.setup(of: .verification)
    if replace {
      let (tokens, ended) = try await setup.revokeAPITokens(keepsCodes: keepCodes)
      note("Ended codes: \(ended).")
      return try report.write(
        Report(apiTokens: tokens, endedCodes: ended), tokens.joined(separator: "\n"))
    }
    guard let tokens = try await add ? setup.addAPIToken() : setup.apiTokens() else {
      throw CommandFailure.badInput(
        "The verification server of \(servers.data.printable) has no tokens yet: add one, or start it"
          + " first.")
    }
    try report.write(Report(apiTokens: tokens), tokens.joined(separator: "\n"))
  }
}
