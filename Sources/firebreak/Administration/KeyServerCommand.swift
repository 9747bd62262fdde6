// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import ServerStorage
import Terminal

/// `firebreak key-server`: administration of the key server, also while it runs.
struct KeyServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-server",
    abstract:
      "Administer the key server: exports, keys, device configuration, settings.",
    subcommands: [
      AuthorityCommand.self, AppCommand.self, ExportNowCommand.self,
      SettingsCommand<AdministeredKeyServer>.self, SigningKeyCommand<AdministeredKeyServer>.self,
      DeviceConfigurationCommand.self, PauseCommand.self, ResumeCommand.self, WithdrawCommand.self,
      ClockCommand<AdministeredKeyServer>.self,
    ])
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

  /// Writes every key file again, except withdrawn ones, which are removed.
  static func signAgain(of setup: ServerSetup) async throws -> [String] {
    guard FileManager.default.fileExists(atPath: setup.folder.keyDatabase.path) else { return [] }
    let server = try setup.keyServer(
      logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() })
    do {
      return try await server.signAgain()
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure(
        status: .machineFailed, message: "\(error) Run the command again to sign the other files.")
    }
  }

  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey {
    SecretSigningKey(
      keyID: keys.last?.keyID ?? "", keyVersion: "v\(keys.count + 1)", validFrom: from)
  }

  static func checkSettings(of setup: ServerSetup) throws { try setup.checkKeys() }
}
