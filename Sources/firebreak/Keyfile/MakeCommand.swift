import ArgumentParser
import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// Makes a signed key file from keys in JSON.
struct MakeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Make a signed key file.",
    discussion: """
      KEYS.json: {"temporaryExposureKeys": [{"key": base64, "rollingStartNumber", "rollingPeriod", \
      "transmissionRisk", "reportType", "daysSinceOnset", "variantOfConcern"}], "revisedKeys": \
      [...]}. All but the key and its start may be left out; reportType is a number 0...5 or a name \
      such as CONFIRMED_TEST, variantOfConcern a number 0...4.
      """)

  @Option(help: "The keys, in JSON.")
  var keys: String

  @Option(help: "The authority's P-256 private key, in PEM (SEC1 or PKCS#8).")
  var signingKey: String

  @Option(name: .customLong("key-id"), help: "The id phones know the key by, such as 260.")
  var keyID: String

  @Option(help: "The version phones know the key by, such as v1.")
  var keyVersion: String

  @Option(help: "The region, such as PL.")
  var region: String

  @Option(help: "The first moment of the period, in Unix seconds.")
  var start: UInt64

  @Option(help: "The first moment after the period, in Unix seconds.")
  var end: UInt64

  @Option(help: "The zip to write; a file that is there is replaced.")
  var output: String

  @Flag(help: "Print what was written as one JSON object.")
  var json = false

  func run() throws {
    let keys = try KeysJSON(decoding: InputFile(keys, what: "file of keys").content)
    let signer = try KeyFileSigner(
      privateKeyPEM: InputFile(signingKey, what: "signing key").text, keyID: keyID,
      keyVersion: keyVersion)
    let url = URL(fileURLWithPath: output)
    try refuseUnlessReplaceable(url)
    let unfinished = UnfinishedFile()
    let signals = SignalHandler.exiting(after: unfinished.remove)
    defer { withExtendedLifetime(signals) {} }
    let facts = try KeyFileWriter.write(
      to: url, start: start, end: end, region: region, keys: keys.keys,
      revisedKeys: keys.revisedKeys, signers: [signer], begun: unfinished.began)
    if json {
      try printJSON(KeyFileReport(facts))
    } else {
      try StandardOutput.write(KeyFileTable(name: url.lastPathComponent, facts: facts).text)
    }
  }

  /// A device would be gone, for everybody, and a file be there in its stead.
  private func refuseUnlessReplaceable(_ url: URL) throws {
    let facts = try? FileManager.default.attributesOfItem(atPath: url.path)
    guard let facts, facts[.type] as? FileAttributeType != .typeRegular else { return }
    throw CommandFailure.badInput(
      "\(output.printable) is there and is no file that can be replaced: name another --output.")
  }
}
