// SPDX-License-Identifier: Apache-2.0
import SwiftProtobuf

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
