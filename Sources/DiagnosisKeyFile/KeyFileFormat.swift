// SPDX-License-Identifier: Apache-2.0
import SwiftProtobuf

/// The counted content of a key file. It does not say that a signature is valid.
public struct KeyFileSummary: Hashable, Sendable {
  /// The header of the export.
  public let header: KeyFileHeader
  /// The signing keys, in the file's order; empty if the file is not signed.
  public let signatures: [SignatureInfo]
  /// The number of keys, including invalid ones.
  public let keyCount: Int
  /// The number of revised keys, including invalid ones.
  public let revisedKeyCount: Int
  /// The number of invalid keys of both kinds, which are skipped: not 16 bytes, a period outside 1...144,
  /// or an impossible start or risk level.
  public let keysSkipped: Int
  /// SHA-256 of the whole export.bin, which is what the signature covers.
  public let exportSHA256: [UInt8]
  /// The size of export.bin, in bytes.
  public let exportByteCount: Int
}

/// The fields of a key file that come before its keys.
public struct KeyFileHeader: Hashable, Sendable {
  /// The start of the period in which the keys were published, in Unix seconds.
  public let start: UInt64
  /// The end of the period, exclusive, in Unix seconds.
  public let end: UInt64
  /// The region, such as `PL`.
  public let region: String
  /// The number of this file in its batch, from 1.
  public let batchNumber: Int32
  /// The number of files in the batch.
  public let batchSize: Int32
  /// The signing keys that the export names.
  public let signatureInfos: [SignatureInfo]
}

extension KeyFileHeader {
  init(wire: WireTemporaryExposureKeyExport) {
    self.init(
      start: wire.startTimestamp, end: wire.endTimestamp, region: wire.region,
      batchNumber: wire.batchNum, batchSize: wire.batchSize,
      signatureInfos: wire.signatureInfos.map(SignatureInfo.init(wire:)))
  }

  var wire: WireTemporaryExposureKeyExport {
    .with {
      $0.startTimestamp = start
      $0.endTimestamp = end
      $0.region = region
      $0.batchNum = batchNumber
      $0.batchSize = batchSize
      $0.signatureInfos = signatureInfos.map(\.wire)
    }
  }
}

/// The id of a signing key and its algorithm, as stated in both export.bin and export.sig.
public struct SignatureInfo: Hashable, Sendable {
  /// ECDSA over P-256 with SHA-256, as an object identifier.
  public static let ecdsaWithSHA256 = "1.2.840.10045.4.3.2"

  /// The key's id, usually the mobile country code, such as `260`; empty if the file has none.
  public let verificationKeyID: String
  /// The key's version, such as `v1`; empty if the file has none.
  public let verificationKeyVersion: String
  /// The algorithm as written, usually an object identifier; empty if the file has none.
  public let signatureAlgorithm: String

  /// Creates an info of these three parts.
  public init(
    verificationKeyID: String, verificationKeyVersion: String,
    signatureAlgorithm: String = SignatureInfo.ecdsaWithSHA256
  ) {
    self.verificationKeyID = verificationKeyID
    self.verificationKeyVersion = verificationKeyVersion
    self.signatureAlgorithm = signatureAlgorithm
  }
}

extension SignatureInfo {
  init(wire: WireSignatureInfo) {
    self.init(
      verificationKeyID: wire.verificationKeyID,
      verificationKeyVersion: wire.verificationKeyVersion,
      signatureAlgorithm: wire.signatureAlgorithm)
  }

  var wire: WireSignatureInfo {
    .with {
      $0.verificationKeyID = verificationKeyID
      $0.verificationKeyVersion = verificationKeyVersion
      $0.signatureAlgorithm = signatureAlgorithm
    }
  }
}

/// Limits of what the reader accepts; everything beyond them is rejected.
///
/// Documentation/KeyFiles.md, "Limits", has the reason for each figure.
public enum KeyFileLimit {
  /// The downloaded file, in bytes.
  public static let fileByteCountMax = 32 << 20
  /// `export.bin` after decompression, in bytes.
  public static let exportByteCountMax = 48 << 20
  /// `export.sig` after decompression, in bytes.
  public static let signatureFileByteCountMax = 16 << 10
  /// The ratio of content to zip. Keys are random and do not compress, so a valid file stays under 3.
  public static let expansionMax = 20
  /// The entries `export.bin` and `export.sig`.
  public static let entryCountMax = 2
  /// The zip's central directory, in bytes: two short names and their dates.
  public static let zipDirectoryByteCountMax = 4 << 10
  /// Keys and revised keys of one file. Servers split at 500,000; the limit leaves half as many again.
  public static let keyCountMax = 750_000
  /// One key with all its fields, in bytes; valid keys have 39.
  public static let keyMessageByteCountMax = 256
  /// Everything except keys: period, region, batch and signature infos, in bytes.
  public static let headerByteCountMax = 16 << 10
  /// Signatures, and signature infos.
  public static let signatureCountMax = 10
  /// The name of a region, in bytes of UTF-8.
  public static let regionByteCountMax = 64
  /// The id or version of a verification key, in bytes of UTF-8.
  public static let verificationKeyNameByteCountMax = 64
  /// Keys passed on in one batch.
  public static let batchSizes = 1...65_536
  /// Bytes of a file in memory at once.
  public static let chunkByteCount = 64 << 10
}

/// Constants of `export.bin`.
enum ExportFormat {
  /// The first 16 bytes, which name version 1.
  static let magic = Array("EK Export v1    ".utf8)
  /// The fields that are not keys.
  static let headerFields: ClosedRange<UInt64> = 1...6
  static let keyField: UInt64 = 7
  static let revisedKeyField: UInt64 = 8

  static func keyField(isRevised: Bool) -> UInt64 {
    isRevised ? revisedKeyField : keyField
  }
}

/// The two halves of a key file.
enum ExportPart: String, CaseIterable {
  case export = "export.bin"
  case signatures = "export.sig"

  /// The maximum size of this half, in bytes.
  var byteCountMax: Int {
    switch self {
    case .export: KeyFileLimit.exportByteCountMax
    case .signatures: KeyFileLimit.signatureFileByteCountMax
    }
  }
}
