import Crypto
import ExposureKeys
import Foundation
import SwiftProtobuf
import TestSupport

@testable import DiagnosisKeyFile

/// A key file put together message by message, so that a test may get one thing wrong.
struct RawKeyFile {
  var export: [UInt8]
  var signatures: [UInt8]

  /// A right one: two keys, signed by all `authorities`; `change` and `changeSignatures` spoil it.
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
    let export = ExportScanner.magic + (try message.serializedBytes() as [UInt8])
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

/// Verifies a file of `bytes` by the keys of `authorities`, and gives all its keys.
@discardableResult
func verify(
  _ bytes: [UInt8], by authorities: [Authority], batchSize: Int = 100
) throws -> VerifiedKeyFile {
  let keys = try authorities.map { try $0.publicKey() }
  return try onDisk(bytes) { try $0.verified(by: keys, batchSize: batchSize) { _ in } }
}
