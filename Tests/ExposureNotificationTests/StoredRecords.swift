// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage

@testable import ExposureNotification

extension StoredSighting {
  /// The bytes of the record.
  var record: Data { LogRecords.bytes { add(to: &$0) } }

  /// Decodes a record; nil if it is not valid.
  init?(_ record: Data) {
    guard let decoded = record.withUnsafeBytes({ StoredSighting($0) }) else { return nil }
    self = decoded
  }
}

extension StoredScan {
  /// The bytes of the record.
  var record: Data { LogRecords.bytes { add(to: &$0) } }

  /// Decodes a record; nil if it is not valid.
  init?(_ record: Data) {
    guard let decoded = record.withUnsafeBytes({ StoredScan($0) }) else { return nil }
    self = decoded
  }
}

extension LogRecords {
  /// The bytes of the only record that `add` appends.
  fileprivate static func bytes(_ add: (inout LogRecords) -> Void) -> Data {
    var (records, bytes) = (LogRecords(), Data())
    add(&records)
    records.forEach { bytes += $0 }
    return bytes
  }
}
