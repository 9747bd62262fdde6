import ArgumentParser
import KeyServer

/// `authority add`: an authority, or one more key of it.
struct AuthorityAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Take the certificates of an authority, signed by this key.",
    discussion: "Again with another key id, it adds a key. A running server follows in minutes.")

  /// What was written down.
  private struct Report: Encodable {
    let issuer: String
    let audience: String
    let keyID: String
  }

  @Option(name: .customLong("issuer"), help: "The `iss` of its certificates.")
  var authority: String

  @Option(name: .customLong("audience"), help: "The `aud` of its certificates.")
  var name: String

  @Option(name: .customLong("key-id"), help: "The `kid` of its certificates.")
  var key: String

  @Option(help: "Its P-256 public key, in PEM.")
  var publicKey: String

  @Flag(help: "Let it ask for the statistics of its uploads.")
  var statistics = false

  @OptionGroup var folder: DataOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let pem = try InputFile(publicKey, what: "public key").text
    try await folder.register().adding {
      try await $0.add(
        HealthAuthority(
          issuer: authority, audience: name, publicKeysPEM: [key: pem],
          seesStatistics: statistics))
    }
    try json
      ? printJSON(Report(issuer: authority, audience: name, keyID: key))
      : StandardOutput.write("Certificates of \(authority.printable) are taken.")
  }
}
