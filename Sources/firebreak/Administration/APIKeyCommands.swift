import ArgumentParser
import Foundation
import Terminal
import VerificationServer

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
    let setup = ServerSetup(folder: try ServerFolder(path: options.data), options: options)
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
        createdAt: Int64($0.createdAt.timeIntervalSince1970),
        revokedAt: $0.revokedAt.map { Int64($0.timeIntervalSince1970) })
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
