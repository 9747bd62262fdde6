import SwiftProtobuf

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
