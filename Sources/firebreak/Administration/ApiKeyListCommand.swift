import ArgumentParser
import Foundation
import VerificationServer

/// `api-key list`: every key there is and was.
struct ApiKeyListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the keys by their ids; never the keys themselves.")

  /// The keys, oldest first.
  private struct Report: Encodable {
    let apiKeys: [Entry]
  }

  /// One key.
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
    let entries = try await ApiKeyDesk.refusing {
      try await ServerSetup(folder: folder, options: options).existingApiKeyDesk().list()
    }.map {
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
