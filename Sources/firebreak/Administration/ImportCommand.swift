// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import KeyServer
import ServerOperations
import Terminal

/// The key that must have signed the files of another server.
struct TrustedSignerOptions: ParsableArguments {
  @Option(help: "The P-256 public key of the other authority, in PEM or DER.")
  var publicKey: String

  @Option(name: .customLong("key-id"), help: "Accept only signatures with this key ID.")
  var keyID: String?

  @Option(help: "Accept only signatures with this key version.")
  var keyVersion: String?

  func signer() throws -> TrustedSigner {
    TrustedSigner(
      publicKeyPEM: try P256KeyFile(publicKey, what: "public key").publicKeyPEM(), keyID: keyID,
      keyVersion: keyVersion)
  }
}

/// `key-server import`
struct ImportCommand: AsyncParsableCommand, ReportWriter {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Add the keys of another server's files.",
    discussion: """
      The files must be signed by the given key. Files that were imported before are skipped, and keys that are \
      stored stay as they are, so an import can be repeated. The keys are in the next file of each export that \
      includes their region.
      """)

  @Argument(help: "Key files, their addresses, or the address of an index or of its folder.")
  var sources: [String]

  @OptionGroup var trust: TrustedSignerOptions

  @Option(help: "The region that the keys get, such as DE; by default the region in each file.")
  var region: String?

  @Flag(
    help: "Treat the keys as those of users who consented to sharing them with other countries.")
  var travellers = false

  @Option(help: "The folder with all data of the servers.")
  var data = ServerOptions.defaultFolder

  @Flag(help: "Print one JSON object.")
  var json = false

  private struct Report: Encodable {
    let files: Int
    let filesKnown: Int
    let inserted: Int
    let revised: Int
    let known: Int
    let skipped: Int

    init(_ report: KeyImportReport) {
      (files, filesKnown) = (report.files, report.filesKnown)
      (inserted, revised) = (report.inserted, report.revised)
      (known, skipped) = (report.known, report.skipped)
    }

    var text: String {
      """
      Imported \(files) files, skipped \(filesKnown) that were imported before.
      Keys: \(inserted) new, \(revised) revised, \(known) stored before, \(skipped) too old or not valid.
      """
    }
  }

  func validate() throws {
    guard region.map(AuthorizedApp.isRegion) ?? true else {
      throw ValidationError(
        "--region takes two upper-case letters, such as DE; '\((region ?? "").printable)' was given."
      )
    }
  }

  func run() async throws {
    let setup = ServerSetup(
      folder: try ServerFolder(existing: data, of: .keys),
      database: try DatabaseOptions.addressOfEnvironment
    ) { note($0) }
    let signer = try trust.signer()
    let bar = ProgressLine("files")
    defer { bar.clear() }
    let report = try await setup.importKeys(
      from: sources, signer: signer,
      rules: KeyImport.Rules(region: region, travels: travellers)
    ) { bar.show("Imported \($0.inserted) keys of \($0.files) files") }
    bar.clear()
    try write(Report(report), Report(report).text)
  }
}

/// `key-server mirror`
struct MirrorCommand: AsyncParsableCommand, ReportWriter {
  static let configuration = CommandConfiguration(
    commandName: "mirror", abstract: "Copy another server's key files and index into a folder.",
    discussion: """
      The files must be signed by the given key. Files that were copied before are not copied again, and those \
      that the index does not list any more are removed. Any web server can serve the folder.
      """)

  @Argument(help: "The address of the index or of its folder.")
  var index: String

  @OptionGroup var trust: TrustedSignerOptions

  @Option(help: "The folder of the copies.")
  var output: String

  @Flag(help: "Print one JSON object.")
  var json = false

  private struct Report: Encodable {
    let copied: Int
    let known: Int
    let removed: Int
  }

  func run() async throws {
    let result = try await ServerSetup.mirror(
      index, in: URL(fileURLWithPath: output), signer: try trust.signer())
    try write(
      Report(copied: result.copied, known: result.known, removed: result.removed),
      "Copied \(result.copied) files, kept \(result.known), removed \(result.removed).")
  }
}
