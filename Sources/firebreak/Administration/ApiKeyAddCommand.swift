import ArgumentParser
import VerificationServer

/// `api-key add`: a new key, whose text is shown this once.
struct ApiKeyAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a key and show it, this once; the server keeps its mark only.")

  /// The new key.
  private struct Report: Encodable {
    let type: String
    let name: String
    let apiKey: String
  }

  @Option(help: ArgumentHelp("What its holder may do.", valueName: "device|admin"))
  var type: ApiKeyKind

  @Option(help: "Who holds it.")
  var name = "unnamed"

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    guard ApiKeyKind.offered.contains(type) else {
      throw CommandFailure.badInput(
        "--type \(type.rawValue) opens no route here: take device or admin. Statistics of uploads are the"
          + " key server's, for tokens signed with an authority's key.")
    }
    let key = try await ApiKeyDesk.refusing {
      try await ServerSetup(folder: ServerFolder(path: options.data), options: options)
        .apiKeyDesk().add(kind: type, name: name)
    }
    try json
      ? printJSON(Report(type: type.rawValue, name: name, apiKey: key))
      : StandardOutput.write(key)
  }
}

extension ApiKeyKind: ExpressibleByArgument {}
