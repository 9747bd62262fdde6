// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The records of one frame of a `SealedLog` in the form in which it is encrypted: each is preceded by its length in
/// four bytes, little endian.
///
/// A phone stores thousands of records a day and reads them in each detection, so they share one piece of memory.
package struct LogRecords: Sendable {
  static let lengthBytes = 4

  /// The encoded records.
  private(set) var content = Data()

  /// No records.
  package init() {}

  init(_ records: [Data]) {
    for record in records { append(byteCount: record.count) { record.copyBytes(to: $0) } }
  }

  /// Returns nil if the lengths do not add up.
  init?(content: Data) {
    self.content = content
    let end = content.withUnsafeBytes { bytes in
      var offset = 0
      while let length = Self.length(in: bytes, at: offset) { offset += Self.lengthBytes + length }
      return offset
    }
    guard end == content.count else { return nil }
  }

  package var isEmpty: Bool { content.isEmpty }

  /// The size of the encoded records.
  package var byteCount: Int { content.count }

  /// Appends a record of `byteCount` bytes, which `fill` writes.
  package mutating func append(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    let start = content.count
    content.count = start + Self.lengthBytes + byteCount
    content.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: UInt32(byteCount).littleEndian, toByteOffset: start, as: UInt32.self)
      fill(UnsafeMutableRawBufferPointer(rebasing: bytes[(start + Self.lengthBytes)...]))
    }
  }

  /// Appends all records of `other`.
  package mutating func append(_ other: LogRecords) { content += other.content }

  /// Calls `body` with the bytes of each record.
  package func forEach(_ body: (UnsafeRawBufferPointer) -> Void) {
    content.withUnsafeBytes { bytes in
      var offset = 0
      while let length = Self.length(in: bytes, at: offset) {
        let start = offset + Self.lengthBytes
        body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
        offset = start + length
      }
    }
  }

  /// The length of the record at `offset`; nil at the end, or if the record is longer than the rest.
  private static func length(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
    let rest = bytes.count - offset - lengthBytes
    guard rest >= 0 else { return nil }
    let length = Int(
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    return length <= rest ? length : nil
  }
}
