import ArgumentParser
import Foundation
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
    let keyID: String?
    let jwksURL: String?
  }

  @Option(name: .customLong("issuer"), help: "The `iss` of its certificates.")
  var authority: String

  @Option(name: .customLong("audience"), help: "The `aud` of its certificates.")
  var name: String

  @Option(name: .customLong("key-id"), help: "The `kid` of its certificates.")
  var key: String?

  @Option(help: "Its P-256 public key, in PEM.")
  var publicKey: String?

  @Option(name: .customLong("jwks-url"), help: "Where it publishes its keys; read every hour.")
  var jwksURL: String?

  @Flag(help: "Let it ask for the statistics of its uploads.")
  var statistics = false

  @OptionGroup var folder: DataOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard (key == nil) == (publicKey == nil) else {
      throw ValidationError("--key-id and --public-key belong together.")
    }
    guard key != nil || jwksURL != nil else {
      throw ValidationError("Name a key with --key-id and --public-key, or a page with --jwks-url.")
    }
    guard jwksURL.map({ WebAddress($0) != nil }) ?? true else {
      throw ValidationError("--jwks-url takes an address of https (of http on this machine only).")
    }
  }

  func run() async throws {
    let pem = try publicKey.map { try InputFile($0, what: "public key").text }
    let keys = key.flatMap { key in pem.map { [key: $0] } } ?? [:]
    try await folder.register().adding {
      try await $0.add(
        HealthAuthority(
          issuer: authority, audience: name, publicKeysPEM: keys,
          jwksURL: jwksURL.flatMap { URL(string: $0) }, seesStatistics: statistics))
    }
    try json
      ? printJSON(Report(issuer: authority, audience: name, keyID: key, jwksURL: jwksURL))
      : StandardOutput.write("Certificates of \(authority.printable) are taken.")
  }
}
