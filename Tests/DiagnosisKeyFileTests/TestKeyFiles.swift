// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import SwiftProtobuf
import TestSupport

@testable import DiagnosisKeyFile

/// A key file built message by message, so that a test can spoil one part.
struct RawKeyFile {
  var export: [UInt8]
  var signatures: [UInt8]

  /// A valid file: two keys, signed by all `authorities`; `change` and `changeSignatures` spoil it.
  init(
    _ authorities: [Authority],
    change: (inout WireTemporaryExposureKeyExport) -> Void = { _ in },
    changeSignatures: (inout WireTEKSignatureList) -> Void = { _ in }
  ) throws {
    var message = WireTemporaryExposureKeyExport()
    message.startTimestamp = 1_590_159_600
    message.endTimestamp = 1_590_246_000
    message.region = "PL"
    message.batchNum = 1
    message.batchSize = 1
    message.signatureInfos = authorities.map(Self.info)
    message.keys = testKeys(2).map { key in
      .with {
        $0.keyData = Data(key.key.secretBytes)
        $0.rollingStartIntervalNumber = Int32(key.key.rollingStart.rawValue)
      }
    }
    change(&message)
    let export = ExportFormat.magic + (try message.serializedBytes() as [UInt8])
    var list = WireTEKSignatureList()
    list.signatures = try authorities.map { authority in
      try .with {
        $0.signatureInfo = Self.info(authority)
        $0.batchNum = 1
        $0.batchSize = 1
        $0.signature = try authority.privateKey.signature(for: export).derRepresentation
      }
    }
    changeSignatures(&list)
    self.export = export
    signatures = try list.serializedBytes()
  }

  private static func info(_ authority: Authority) -> WireSignatureInfo {
    SignatureInfo(
      verificationKeyID: authority.keyID, verificationKeyVersion: authority.keyVersion
    ).wire
  }

  var zip: RawZip {
    RawZip(entries: [
      .init(name: "export.bin", content: export), .init(name: "export.sig", content: signatures),
    ])
  }
}

/// Writes `bytes` as a file and reads it back as a key file.
func onDisk<Result>(
  _ bytes: [UInt8], _ body: (UnverifiedKeyFile) throws -> Result
) throws -> Result {
  let folder = try TemporaryFolder()
  let url = folder.path("file.zip")
  try Data(bytes).write(to: url)
  return try body(UnverifiedKeyFile(at: url))
}

/// Verifies a file of `bytes` with the keys of `authorities`.
@discardableResult
func verify(
  _ bytes: [UInt8], by authorities: [Authority], batchSize: Int = 100
) throws -> VerifiedKeyFile {
  let keys = try authorities.map { try $0.publicKey() }
  return try onDisk(bytes) { try $0.verified(by: keys, batchSize: batchSize) { _ in } }
}

/// A zip built byte by byte, so that a test can spoil one part. All entries are stored.
struct RawZip {
  /// One entry, with the parts that a test can spoil.
  struct Entry {
    var name: String
    var content: [UInt8]
    /// The Unix file type and permissions, in the high half of the external attributes.
    var mode: UInt32 = 0o100644
    var flags: UInt16 = 0
    /// The stated compression method; 0 is stored.
    var method = 0
    /// The stated size, if it differs from the true one.
    var statedByteCount: Int?
  }

  var entries: [Entry]
  /// The number of entries in the end record, if it differs from the true one.
  var statedEntryCount: Int?
  var comment: [UInt8] = []

  var bytes: [UInt8] {
    var file: [UInt8] = []
    var directory: [UInt8] = []
    for entry in entries {
      let offset = file.count
      let fields = fields(of: entry)
      file += number(0x0403_4b50, 4) + fields + number(0, 2)
      directory += number(0x0201_4b50, 4) + number(0x0314, 2) + fields
      directory += number(0, 8) + number(Int(entry.mode) << 16, 4) + number(offset, 4)
      file += Array(entry.name.utf8) + entry.content
      directory += Array(entry.name.utf8)
    }
    let count = number(statedEntryCount ?? entries.count, 2)
    let end =
      number(0x0605_4b50, 4) + number(0, 4) + count + count + number(directory.count, 4)
      + number(file.count, 4) + number(comment.count, 2) + comment
    return file + directory + end
  }

  /// The fields that local header and directory have in common: version to name length.
  private func fields(of entry: Entry) -> [UInt8] {
    let byteCount = entry.statedByteCount ?? entry.content.count
    return number(20, 2) + number(Int(entry.flags), 2) + number(entry.method, 2)
      + number(0x0021_0000, 4)
      + number(Int(crc32(entry.content)), 4) + number(entry.content.count, 4)
      + number(byteCount, 4) + number(entry.name.utf8.count, 2)
  }

  private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}

private let crcTable: [UInt32] = (0..<256).map { index in
  (0..<8).reduce(UInt32(index)) { value, _ in
    value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1
  }
}

private func crc32(_ bytes: [UInt8]) -> UInt32 {
  ~bytes.reduce(UInt32.max) { crcTable[Int(($0 ^ UInt32($1)) & 0xff)] ^ $0 >> 8 }
}

/// A health authority with a new key, as signer and as configured on phones.
struct Authority {
  let keyID: String
  let keyVersion: String
  let privateKey = P256.Signing.PrivateKey()

  init(keyID: String = "260", keyVersion: String = "v1") {
    self.keyID = keyID
    self.keyVersion = keyVersion
  }

  func signer() throws -> KeyFileSigner {
    try KeyFileSigner(
      privateKeyPEM: privateKey.pemRepresentation, keyID: keyID, keyVersion: keyVersion)
  }

  func publicKey() throws -> VerificationPublicKey {
    try VerificationPublicKey(
      keyID: keyID, keyVersion: keyVersion,
      publicKeyPEM: privateKey.publicKey.pemRepresentation)
  }
}

/// `count` different keys in file order, with every optional field used by some.
func testKeys(_ count: Int, seed: UInt64 = 1) -> [DiagnosisKey] {
  var generator = SeededGenerator(seed: seed)
  return (0..<count).compactMap { index in
    let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let start = IntervalNumber(rawValue: 2_650_000 + UInt32(index % 14) * 144)
    let period: UInt32 = index % 5 == 0 ? UInt32(index % 143) + 1 : 144
    return TemporaryExposureKey(bytes: bytes, rollingStart: start, rollingPeriod: period).flatMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: UInt8(index % 9),
        reportType: index % 7 == 6 ? nil : ReportType(rawValue: Int32(index % 7)),
        daysSinceOnsetOfSymptoms: index % 3 == 0 ? nil : Int32(index % 29) - 14,
        variantOfConcern: VariantOfConcern(rawValue: UInt8(index % 6)))
    }
  }.sorted(by: DiagnosisKey.inFileOrder)
}
