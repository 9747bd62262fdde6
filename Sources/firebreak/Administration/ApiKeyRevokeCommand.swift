import ArgumentParser
import VerificationServer

/// `api-key revoke ID`: ends a key at once.
struct ApiKeyRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "End a key; ends with 1 where there is none of this id.")

  /// What became of it.
  private struct Report: Encodable {
    let id: String
    let revoked: Bool
  }

  @Argument(help: "The id, as `api-key list` shows it: the beginning of the key.")
  var id: String

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let folder = try ServerFolder(existing: options.data, of: .verification)
    let isRevoked = try await ApiKeyDesk.refusing {
      try await ServerSetup(folder: folder, options: options).existingApiKeyDesk().revoke(id)
    }
    if json { try printJSON(Report(id: id, revoked: isRevoked)) }
    guard isRevoked else {
      throw CommandFailure(
        status: .no, sentence: "There is no key \(id.printable): see `api-key list`.")
    }
    if !json { try StandardOutput.write("Revoked \(id).") }
  }
}
