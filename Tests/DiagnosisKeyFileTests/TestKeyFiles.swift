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
  _ bytes: [UInt8], accepting tolerance: KeyFileTolerance = .none,
  _ body: (UnverifiedKeyFile) throws -> Result
) throws -> Result {
  let folder = try TemporaryFolder()
  let url = folder.path("file.zip")
  try Data(bytes).write(to: url)
  return try body(UnverifiedKeyFile(at: url, accepting: tolerance))
}

/// Verifies a file of `bytes` with the keys of `authorities`.
@discardableResult
func verify(
  _ bytes: [UInt8], by authorities: [Authority], batchSize: Int = 100,
  accepting tolerance: KeyFileTolerance = .none
) throws -> VerifiedKeyFile {
  let keys = try authorities.map { try $0.publicKey() }
  return try onDisk(bytes, accepting: tolerance) {
    try $0.verified(by: keys, batchSize: batchSize) { _ in }
  }
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
