import ArgumentParser
import Foundation
import World

/// `api-token`: who may have codes issued in the seed contract.
struct ApiTokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-token",
    abstract: "Show the tokens with which the seed contract's codes are issued.",
    discussion: "With --add a new one is made first; the server takes it when it is started again.")

  /// The tokens.
  private struct Report: Encodable {
    let apiTokens: [String]
  }

  @Flag(help: "Make a new one first.")
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
    let file = try ServerFolder(path: options.data).verificationSecrets
    return try file.changing {
      var secrets = try file.readOrBegin { VerificationSecrets(from: SystemRandomness()) }
      secrets.apiTokens.append(Data(SystemRandomness().bytes(24)).base64EncodedString())
      try file.replace(secrets)
      return secrets
    }
  }

  private func existing() throws -> VerificationSecrets {
    let folder = try ServerFolder(existing: options.data, of: .verification)
    guard let secrets = try folder.verificationSecrets.read(VerificationSecrets.self) else {
      throw CommandFailure.badInput(
        "The verification server of \(options.data.printable) has no tokens yet: add one, or start it"
          + " first.")
    }
    return secrets
  }
}
