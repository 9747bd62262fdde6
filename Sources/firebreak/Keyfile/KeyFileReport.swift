import DiagnosisKeyFile
import Foundation
import Terminal

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
    exportSHA256 = facts.exportSHA256.lowerCaseHex
  }
}

/// The content of a key file as a table.
struct KeyFileTable {
  let name: String
  let facts: KeyFileSummary

  var text: String {
    let width = rows.map(\.label.count).max() ?? 0
    let lines = rows.map { row in
      "  " + row.label.padding(toLength: width + 3, withPad: " ", startingAt: 0) + row.value
    }
    return ([name.printable] + lines).joined(separator: "\n")
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
      ("SHA-256", facts.exportSHA256.lowerCaseHex),
    ] + signatureRows("announced", header.signatureInfos)
      + signatureRows("signed by", facts.signatures)
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

  /// The end of year 9999, the last with four digits.
  private static let lastSecond: UInt64 = 253_402_300_799

  private static func time(_ seconds: UInt64) -> String {
    guard seconds <= lastSecond else { return "\(seconds) s after 1970" }
    let date = Date(timeIntervalSince1970: Double(seconds))
    let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space)
    return date.formatted(style).replacing("Z", with: " UTC") + "   (\(seconds))"
  }
}
