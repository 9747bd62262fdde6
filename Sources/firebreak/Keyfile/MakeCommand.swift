// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DiagnosisKeyFile
import Foundation
import Terminal
import TextEncodings
import World

/// `keyfile make`: makes a signed key file from keys in JSON.
struct MakeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Make a signed key file.",
    discussion: """
      KEYS.json: {"temporaryExposureKeys": [{"key": base64, "rollingStartNumber", "rollingPeriod", \
      "transmissionRisk", "reportType", "daysSinceOnset", "variantOfConcern"}], "revisedKeys": \
      [...]}. Only key and rollingStartNumber are required; reportType is a number 0...5 or a name \
      such as CONFIRMED_TEST, daysSinceOnset a number -14...14, variantOfConcern a number 0...4. \
      Other fields, and the same key twice, are refused.
      """)

  @Option(help: "The keys, in JSON.")
  var keys: String

  @Option(help: "The P-256 private key of the authority, in PEM or DER (SEC1 or PKCS#8).")
  var signingKey: String

  @Option(name: .customLong("key-id"), help: "The key ID, such as 260.")
  var keyID: String

  @Option(help: "The key version, such as v1.")
  var keyVersion: String

  @Option(help: "The region, such as PL.")
  var region: String

  @Option(
    help: ArgumentHelp("The start of the period: \(UTCTime.form).", valueName: "time"),
    transform: MakeCommand.time)
  var start: UInt64

  @Option(
    help: ArgumentHelp("The end of the period (exclusive), in the same forms.", valueName: "time"),
    transform: MakeCommand.time)
  var end: UInt64

  @Option(help: "The zip to write; an existing file is replaced.")
  var output: String

  @Flag(help: "Print the content as one JSON object.")
  var json = false

  func run() throws {
    let bar = ProgressLine("keys written")
    defer { bar.clear() }
    bar.show("Reading \(keys.printable)")
    let keys = try KeysJSON(at: keys)
    bar.clear()
    let pem = try P256KeyFile(signingKey, what: "signing key").privateKeyPEM()
    let signer: KeyFileSigner
    do throws(KeyFileError) {
      signer = try KeyFileSigner(privateKeyPEM: pem, keyID: keyID, keyVersion: keyVersion)
    } catch {
      throw error.failure(
        of: error == .notAPrivateKey ? signingKey.printable : "--key-id, --key-version")
    }
    let url = URL(fileURLWithPath: output)
    try checkReplaceable(url)
    let unfinished = UnfinishedFile()
    let cleanUp = CleanUp(unfinished.remove)
    defer { cleanUp.run() }
    let facts: KeyFileSummary
    do throws(KeyFileError) {
      facts = try KeyFileWriter.write(
        to: url, start: start, end: end, region: region,
        keys: CountedKeys(keys.keys, of: keys.count, on: bar),
        revisedKeys: CountedKeys(keys.revisedKeys, after: keys.keys.count, of: keys.count, on: bar),
        signers: [signer], create: unfinished.create)
    } catch {
      throw error.failure(of: output.printable)
    }
    bar.clear()
    if json {
      try printJSON(KeyFileReport(facts))
    } else {
      try StandardOutput.write(
        KeyFileTable(name: url.lastPathComponent.printable, facts: facts).text)
    }
  }

  /// Parses a time of the period. Any Unix time of the format is accepted, so that unusual files can be made.
  private static func time(_ text: String) throws -> UInt64 {
    if let seconds = UInt64(text) { return seconds }
    guard let time = UTCTime(text) else { throw ValidationError("expected \(UTCTime.form)") }
    return UInt64(time.date.unixSecond)
  }

  /// Refuses to replace a device or folder by a file.
  private func checkReplaceable(_ url: URL) throws {
    let attributes = FileManager.default.attributes(of: url)
    guard let attributes, attributes[.type] as? FileAttributeType != .typeRegular else { return }
    throw CommandFailure.badInput(
      "\(output.printable) is not a regular file: choose another --output.")
  }
}
