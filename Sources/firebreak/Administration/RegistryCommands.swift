import ArgumentParser
import Foundation
import KeyServer
import Terminal

/// `authority`: the health authorities whose certificates `/v1/publish` accepts.
struct AuthorityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authority", abstract: "Manage the authorities whose certificates are accepted.",
    subcommands: [AuthorityAddCommand.self])
}

/// `authority add`: adds an authority, or a key to an authority.
struct AuthorityAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Accept an authority's certificates, signed by this key.",
    discussion: "Run again with another id to add a key. A running server reads it in a minute.")

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

  @Option(name: .customLong("jwks-url"), help: "The page with its keys; read every hour.")
  var jwksURL: String?

  @Flag(help: "Allow it to request the statistics of its uploads.")
  var statistics = false

  @OptionGroup var folder: RegistryOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard (key == nil) == (publicKey == nil) else {
      throw ValidationError("--key-id and --public-key must be used together.")
    }
    guard key != nil || jwksURL != nil else {
      throw ValidationError("Name a key with --key-id and --public-key, or a page with --jwks-url.")
    }
    guard jwksURL.map({ WebAddress($0) != nil }) ?? true else {
      throw ValidationError("--jwks-url takes an https URL (http only for this machine).")
    }
  }

  func run() async throws {
    let pem = try publicKey.map { try InputFile($0, what: "public key").text }
    let keys = key.flatMap { key in pem.map { [key: $0] } } ?? [:]
    try await folder.change {
      try await $0.add(
        HealthAuthority(
          issuer: authority, audience: name, publicKeysPEM: keys,
          jwksURL: jwksURL.flatMap { URL(string: $0) }, seesStatistics: statistics))
    }
    try json
      ? printJSON(Report(issuer: authority, audience: name, keyID: key, jwksURL: jwksURL))
      : StandardOutput.write("Certificates of \(authority.printable) are accepted.")
  }
}

/// `app`: the apps that may publish.
struct AppCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app", abstract: "Manage the apps that may publish.",
    subcommands: [AppAddCommand.self])
}

/// `app add`: adds an app with its regions and authorities.
struct AppAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Allow an app to publish; an app with the same id is replaced.")

  private struct Report: Encodable {
    let id: String
    let regions: [String]
    let authorities: [String]
  }

  @Argument(help: "The app's id, such as its package name.")
  var id: String

  @Option(name: .customLong("region"), help: "A region of its keys; may be repeated.")
  var regions: [String]

  @Option(
    name: .customLong("authority"),
    help: "An issuer whose certificates it may use; may be repeated."
  )
  var authorities: [String]

  @OptionGroup var folder: RegistryOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await folder.change {
      try await $0.add(
        AuthorizedApp(id: id, regions: Set(regions), authorities: Set(authorities)))
    }
    try json
      ? printJSON(Report(id: id, regions: regions.sorted(), authorities: authorities.sorted()))
      : StandardOutput.write("\(id.printable) may publish.")
  }
}

/// `--data` for commands with options that have the same names as those of `ServerOptions`.
struct RegistryOption: ParsableArguments {
  @Option(help: "The folder with all data of the servers.")
  var data = "firebreak-data"

  /// Runs `change` on the key server's register of apps and authorities.
  func change(_ change: (KeyServerRegistry) async throws -> Void) async throws {
    let setup = ServerSetup(
      folder: try ServerFolder(path: data), options: try ServerOptions.parse(["--data", data]))
    // A server with a database and without secrets would not start.
    _ = try setup.keySecrets()
    try await setup.reportingErrors {
      try await change(KeyServerRegistry(databaseFile: setup.folder.keyDatabase))
    }
  }
}
