// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DiagnosisKeyFile
import Foundation
import Terminal
import TextEncodings
import World

/// `firebreak keyfile`: inspects, verifies and makes diagnosis key files.
struct KeyfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyfile",
    abstract: "Inspect, verify and make diagnosis key files.",
    subcommands: [InspectCommand.self, VerifyCommand.self, MakeCommand.self])
}

/// `keyfile inspect`: shows the content of a key file without verifying it.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show the period, region, counts and signatures of a key file.",
    discussion: "Nothing is verified; use `firebreak keyfile verify` for that.")

  @Argument(help: "A zip, or an export.bin with its export.sig in the same folder; - is stdin.")
  var file: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let argument = try KeyFileArgument(file)
    let facts = try argument.read { try $0.inspect() }
    if json {
      try printJSON(KeyFileReport(facts))
    } else {
      try StandardOutput.write(KeyFileTable(name: argument.shortName, facts: facts).text)
      try StandardOutput.write(
        "Not verified. To verify: firebreak keyfile verify --public-key PEM \(file.printable)")
    }
  }
}

/// `keyfile verify`: verifies the signature of a key file.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Verify the signature of a key file.",
    discussion:
      "Exit code 0: valid; 1: unsigned, or not signed by this key; 2: not a key file or not a key."
  )

  @Argument(help: "A zip, or an export.bin with its export.sig in the same folder; - is stdin.")
  var file: String

  @Option(help: "The P-256 public key of the authority, in PEM or DER.")
  var publicKey: String

  @Option(name: .customLong("key-id"), help: "Accept only a signature with this key ID.")
  var keyID: String?

  @Option(help: "Accept only a signature with this key version.")
  var keyVersion: String?

  func run() throws {
    // An invalid key is bad input even if the file is unsigned.
    let pem = try P256KeyFile(publicKey, what: "public key").publicKeyPEM()
    let argument = try KeyFileArgument(file)
    let verified = try argument.read { file in
      // Without --key-id and --key-version, any ID and version of the file is accepted, but only this key.
      return try file.verified(
        batchSize: Self.batchSize,
        by: { infos in
          try infos.map { info in
            try VerificationPublicKey(
              keyID: keyID ?? info.verificationKeyID,
              keyVersion: keyVersion ?? info.verificationKeyVersion, publicKeyPEM: pem)
          }
        }, each: { _ in })
    }
    argument.noteDeviations(verified.facts)
    let signer = verified.signer
    try StandardOutput.write(
      "Valid: \(verified.facts.keyCount) keys, signed by key \(signer.keyID.printable), "
        + "version \(signer.keyVersion.printable).")
  }

  private static let batchSize = 1024
}

/// The content of a key file, as `--json` prints it.
struct KeyFileReport: Encodable {
  struct Signature: Encodable {
    let keyID: String
    let keyVersion: String
    let algorithm: String
  }

  let start: UInt64
  let end: UInt64
  let region: String
  let batchNum: Int32
  let batchSize: Int32
  let keyCount: Int
  let revisedKeyCount: Int
  let keysSkipped: Int
  let signatures: [Signature]
  let exportSHA256: String
  let deviations: [String]

  init(_ facts: KeyFileSummary) {
    start = facts.header.start
    end = facts.header.end
    region = facts.header.region
    batchNum = facts.header.batchNumber
    batchSize = facts.header.batchSize
    keyCount = facts.keyCount
    revisedKeyCount = facts.revisedKeyCount
    keysSkipped = facts.keysSkipped
    signatures = facts.signatures.map {
      Signature(
        keyID: $0.verificationKeyID, keyVersion: $0.verificationKeyVersion,
        algorithm: $0.signatureAlgorithm)
    }
    exportSHA256 = facts.exportSHA256.hexadecimal
    deviations = facts.deviations.map(\.description)
  }
}

/// The content of a key file as a table.
struct KeyFileTable {
  /// The printable name of the file.
  let name: String
  let facts: KeyFileSummary

  var text: String {
    let width = rows.map(\.label.count).max() ?? 0
    let lines = rows.map { row in
      "  " + row.label.padding(toLength: width + 3, withPad: " ", startingAt: 0) + row.value
    }
    return ([name] + lines).joined(separator: "\n")
  }

  private var rows: [(label: String, value: String)] {
    let header = facts.header
    return [
      ("region", header.region.isEmpty ? "none" : header.region.printable),
      ("from", Self.time(header.start)),
      ("until", Self.time(header.end)),
      ("batch", "\(header.batchNumber) of \(header.batchSize)"),
      ("keys", Self.count(facts.keyCount)),
      ("revised keys", Self.count(facts.revisedKeyCount)),
      ("invalid keys", Self.count(facts.keysSkipped)),
      ("export.bin", "\(Self.count(facts.exportByteCount)) bytes"),
      ("SHA-256", facts.exportSHA256.hexadecimal),
    ] + signatureRows("announced", header.signatureInfos)
      + signatureRows("signed by", facts.signatures)
      + facts.shownDeviations.map { ("deviation", $0) }
  }

  private func signatureRows(
    _ label: String, _ infos: [SignatureInfo]
  ) -> [(label: String, value: String)] {
    guard !infos.isEmpty else { return [(label, "none")] }
    return infos.map { info in
      let parts = [
        "key \(info.verificationKeyID)", "version \(info.verificationKeyVersion)",
        info.signatureAlgorithm == SignatureInfo.ecdsaWithSHA256
          ? "ECDSA P-256 SHA-256" : info.signatureAlgorithm,
      ]
      return (label, parts.joined(separator: ", ").printable)
    }
  }

  private static func count(_ number: Int) -> String {
    number.formatted(.number.grouping(.automatic).locale(Locale(identifier: "en_US")))
  }

  private static func time(_ seconds: UInt64) -> String {
    guard let time = Int64(exactly: seconds).flatMap(UTCTime.init(unixSecond:)),
      UTCTime.seconds.contains(time.date.unixSecond)
    else { return "\(seconds) s after 1970" }
    return "\(time.text)   (\(seconds))"
  }
}
