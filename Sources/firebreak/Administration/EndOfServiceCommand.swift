// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import KeyServerAPI
import ServerOperations
import Terminal
import World

/// `firebreak end-of-service`: ends a service for good.
struct EndOfServiceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "end-of-service",
    abstract: "End the service for good: tell phones, then delete all data.",
    discussion: """
      `tell` while the servers run; phones stop at their next check. Weeks later stop the servers, and `delete` with a \
      certificate of deletion. What phones still ask for is left in DIR/exports, for a web server.
      """, subcommands: [TellEndCommand.self, DeleteServiceCommand.self])
}

/// `end-of-service tell`
struct TellEndCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tell", abstract: "Tell all phones to neither check nor upload any more.")

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var root: RootKeyOptions

  @Option(
    help: ArgumentHelp(
      "The validity of the instruction; by default two years, the longest.", valueName: "seconds"))
  var lifetime: Int64?

  private struct Report: Encodable {
    let version: Int
    let expires: Int64
  }

  func run() async throws {
    let document = try await servers.setup(of: .keys).tellEndOfService(
      rootKey: root.rootKey, lifetimeSeconds: lifetime)
    try report.write(
      Report(version: document.version, expires: document.expires),
      "Version \(document.version) tells phones to stop. It is valid until"
        + " \(UTCTime(unixSecond: document.expires).text).")
  }
}

/// `end-of-service delete`
struct DeleteServiceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete secrets, databases, settings and key files of the stopped servers.",
    discussion: """
      The realms of the folder are deleted, too. \
      Tables in PostgreSQL are deleted in the cluster of DATABASE_URL, with those that `database move` has left. The \
      write-ahead log, standbys and backups of the cluster are not, nor is what `database move --target` has left in \
      another cluster: delete them, too. An object store of the key files, and the folders beside DIR that \
      `restore --replace` has moved away, are named and not deleted.
      """)

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  @Option(
    help: "The new file with the certificate of deletion, JSON, outside the folder of the servers.")
  var certificate: String

  @Flag(help: "Confirm that everything is to be deleted.")
  var confirm = false

  func validate() throws {
    guard confirm else {
      throw ValidationError("Everything is deleted for good: repeat the command with --confirm.")
    }
  }

  func run() async throws {
    let file = URL(fileURLWithPath: certificate)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw CommandFailure.badInput("\(file.path.printable) exists: name a new file.")
    }
    let folder = try ServerFolder(ending: servers.data)
    guard servers.realm == nil else {
      throw CommandFailure.badInput(
        "The end of the service is that of all authorities of the folder: omit --realm, or delete one of them with"
          + " `firebreak realm remove`.")
    }
    let setup = try servers.setup(
      folder, database: DatabaseOptions.addressOfEnvironment)
    let parent = file.deletingLastPathComponent().resolvingSymlinksInPath()
    guard FileManager.default.isFolder(at: parent.path),
      !(parent.path + "/").hasPrefix(setup.folder.url.resolvingSymlinksInPath().path + "/")
    else {
      throw CommandFailure.badInput(
        "--certificate must name a file in an existing folder outside that of the servers.")
    }
    let result = try await setup.deleteService()
    try store(result, in: file)
    for place in result.notDeleted {
      note("\(place.printable) may still have data of the service: delete it, too.")
    }
    let items = try DatabaseOptions.addressOfEnvironment == nil ? "files" : "files and tables"
    try report.write(
      result,
      "Deleted \(result.deleted.count) \(items). The certificate is in \(file.path.printable).")
  }

  private func store(_ result: DeletionCertificate, in file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    do {
      try AtomicFile.write(try encoder.encode(result), to: file, permissions: 0o644)
    } catch {
      throw CommandFailure.machineFailed(
        "Everything is deleted, but \(file.path.printable) could not be written: run the command again with"
          + " a certificate in another folder.")
    }
  }
}
