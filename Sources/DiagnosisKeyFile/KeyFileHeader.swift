import SwiftProtobuf

/// What a key file holds, counted. That its signature holds is not said here.
public struct KeyFileFacts: Hashable, Sendable {
  /// What the file says about itself.
  public let header: KeyFileHeader
  /// Who signed, in the file's order; empty where nobody did.
  public let signatures: [SignatureInfo]
  /// The keys, whether or not they are usable.
  public let keyCount: Int
  /// The revised keys, whether or not they are usable.
  public let revisedKeyCount: Int
  /// How many of both were left out: not 16 bytes, a period outside 1...144, a start or a risk level
  /// that cannot be.
  public let keysSkipped: Int
  /// SHA-256 of the whole export.bin: what is signed.
  public let exportSHA256: [UInt8]
  /// The size of export.bin, in bytes.
  public let exportByteCount: Int
}

/// What a key file says about itself, before its keys.
public struct KeyFileHeader: Hashable, Sendable {
  /// The first moment of the period the keys were published in, in Unix seconds.
  public let start: UInt64
  /// The first moment after the period, in Unix seconds.
  public let end: UInt64
  /// The region, such as `PL`.
  public let region: String
  /// Which file of the batch this is, from 1.
  public let batchNumber: Int32
  /// How many files the batch has.
  public let batchSize: Int32
  /// Who is announced to have signed.
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

/// Which key signed, and how: what export.bin announces and export.sig repeats.
public struct SignatureInfo: Hashable, Sendable {
  /// ECDSA over P-256 with SHA-256, as an object identifier.
  public static let ecdsaWithSHA256 = "1.2.840.10045.4.3.2"

  /// The key's id, usually the mobile country code, such as `260`; empty where the file has none.
  public let verificationKeyID: String
  /// The key's version, such as `v1`; empty where the file has none.
  public let verificationKeyVersion: String
  /// The algorithm as written, usually an object identifier; empty where the file has none.
  public let signatureAlgorithm: String

  /// An info of these three parts.
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
