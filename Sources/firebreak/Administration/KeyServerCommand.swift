// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import ServerStorage
import Terminal
import TextEncodings

/// `firebreak key-server`: administration of the key server, also while it runs.
struct KeyServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-server",
    abstract:
      "Administer the key server: exports, keys, device configuration, settings, backup, restore.",
    subcommands: [
      AuthorityCommand.self, AppCommand.self, ExportNowCommand.self,
      SettingsCommand<AdministeredKeyServer>.self, SigningKeyCommand<AdministeredKeyServer>.self,
      DeviceConfigurationCommand.self, PauseCommand.self, ResumeCommand.self, WithdrawCommand.self,
      ClockCommand<AdministeredKeyServer>.self, BackupCommand<AdministeredKeyServer>.self,
      RestoreCommand<AdministeredKeyServer>.self,
    ])
}

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

  @Option(help: "Its P-256 public key, in PEM or DER.")
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
    let pem = try publicKey.map { try P256KeyFile($0, what: "public key").publicKeyPEM() }
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
  var data = ServerOptions.defaultFolder

  /// Runs `change` on the key server's register of apps and authorities.
  func change(_ change: (KeyServerRegistry) async throws -> Void) async throws {
    let setup = ServerSetup(
      folder: try ServerFolder(existing: data, of: .keys),
      options: try ServerOptions.parse(["--data=\(data)"]))
    // A server with a database and without secrets would not start.
    _ = try setup.keySecrets()
    try await setup.reportingErrors {
      try await change(KeyServerRegistry(databaseFile: setup.folder.keyDatabase))
    }
  }
}

/// `key-server export --now`
struct ExportNowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Close every period that has ended and write its files.",
    discussion: "A running server does this by itself; the command waits while it does.")

  private struct Report: Encodable {
    let files: [String]
  }

  @Flag(help: "Export now.")
  var now = false

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard now else {
      throw ValidationError("Use --now: without it, the running server exports by itself.")
    }
  }

  func run() async throws {
    let folder = try ServerFolder(existing: options.data, of: .keys)
    guard try AdministeredKeyServer.signingKeys(of: folder) != nil else {
      throw CommandFailure.badInput(
        "The key server of \(options.data.printable) has no keys yet: start it first.")
    }
    let server = try ServerSetup(folder: folder, options: options).keyServer(
      logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() })
    let files: [String]
    do {
      files = try await server.exportDue()
      try await server.removeOld()
    } catch {
      throw CommandFailure(status: .machineFailed, message: "\(error)")
    }
    guard !json else { return try printJSON(Report(files: files)) }
    try StandardOutput.write(
      files.isEmpty ? "No export was due." : files.map { "Wrote \($0)" }.joined(separator: "\n"))
  }
}

/// The key server, whose keys sign key files.
enum AdministeredKeyServer: AdministeredServer {
  typealias KeyOptions = RootKeyOptions

  static let commandName = "key-server"
  static let name = ServerName.keys
  /// Key files are kept this long, and phones may verify each of them.
  static let overlapSeconds = 14 * 86_400
  /// Phones learn the key from the device configuration before it signs.
  static let leadSeconds = Int(DeviceConfigurationLimit.leadSeconds)

  static func database(of folder: ServerFolder) -> URL { folder.keyDatabase }

  static var databaseSchema: DatabaseSchema { KeyServer.databaseSchema }

  static func backupFiles(of folder: ServerFolder) -> [URL] {
    [
      folder.keySecrets.url, folder.keySettings.url, folder.deviceConfiguration,
      folder.rootPrivateKey.url, folder.rootPublicKey, folder.tokenPublicKeys.url,
    ]
  }

  static func settingsInForce(of setup: ServerSetup) throws -> JSONValue {
    try setup.keySettings().inForce
  }

  static func secretsFile(of folder: ServerFolder) -> PrivateFile { folder.keySecrets }

  static func signingKeys(of folder: ServerFolder) throws -> [SecretSigningKey]? {
    try KeySecrets.stored(in: folder)?.signingKeys
  }

  static func signingKeysOrFirst(of setup: ServerSetup) throws -> [SecretSigningKey] {
    let keyID = try setup.keySettings().keyID
    return try signingKeys(of: setup.folder) ?? KeySecrets(keyID: keyID).signingKeys
  }

  /// The document is signed before anything is stored, so that a missing root key changes nothing. It is
  /// stored first: secrets without a document mean that the document was lost.
  static func store(
    _ keys: [SecretSigningKey], of setup: ServerSetup, options: RootKeyOptions
  ) throws {
    let keyID = try setup.keySettings().keyID
    let next = try DeviceConfigurationFiles(folder: setup.folder).next(
      keys, rootKey: options.rootKey)
    let file = setup.folder.keySecrets
    var secrets = try KeySecrets.stored(in: setup.folder) ?? KeySecrets(keyID: keyID)
    secrets.signingKeys = keys
    try next.store()
    try file.replace(secrets)
  }

  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey {
    SecretSigningKey(
      keyID: keys.last?.keyID ?? "", keyVersion: "v\(keys.count + 1)", validFrom: from)
  }

  static func settings(of setup: ServerSetup) throws -> JSONValue {
    try setup.checkKeys()
    return try settingsInForce(of: setup)
  }
}
