// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage

/// The time of a scan as one record of the sealed log, 9 bytes: the kind 2, and the time as a 64-bit float
/// of Unix seconds (big endian). Every scan has one, also an empty one.
struct StoredScan: ContactRecord {
  static let byteCount = 9
  fileprivate static let kind: UInt8 = 2

  let time: Date

  init(time: Date) {
    self.time = time
  }

  /// Nil if the record is not valid.
  init?(_ record: UnsafeRawBufferPointer) {
    guard Self.isKind(of: record) else { return nil }
    time = record.time(at: 1)
  }

  func add(to records: inout LogRecords) {
    Self.append(to: &records) { bytes in
      bytes.store(time, at: 1)
    }
  }
}

/// The number of sightings of a scan that exceeded a limit, as one record of the sealed log, 5 bytes: the kind 3, and
/// the number as 32 bits (big endian).
struct DroppedSightings: ContactRecord {
  static let byteCount = 5
  fileprivate static let kind: UInt8 = 3

  let count: Int

  init(count: Int) {
    self.count = count
  }

  /// Nil if the record is not valid.
  init?(_ record: UnsafeRawBufferPointer) {
    guard Self.isKind(of: record) else { return nil }
    count = Int(UInt32(bigEndian: record.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
  }

  func add(to records: inout LogRecords) {
    Self.append(to: &records) { bytes in
      bytes.storeBytes(of: UInt32(clamping: count).bigEndian, toByteOffset: 1, as: UInt32.self)
    }
  }
}

/// A sighting as one record of the sealed log, 30 bytes.
///
/// The kind 1, 16 bytes of identifier, 4 of metadata, the time as a 64-bit float of Unix seconds (big
/// endian), the signal strength in dBm as received.
struct StoredSighting: ContactRecord {
  static let byteCount = 30
  fileprivate static let kind: UInt8 = 1
  private static let metadata = 17
  private static let time = 21
  private static let strength = 29

  let sighting: Sighting

  init(_ sighting: Sighting) {
    self.sighting = sighting
  }

  /// Nil if the record is not valid.
  init?(_ record: UnsafeRawBufferPointer) {
    guard Self.isKind(of: record) else { return nil }
    let words = (
      record.loadUnaligned(fromByteOffset: 1, as: UInt64.self),
      record.loadUnaligned(fromByteOffset: 9, as: UInt64.self)
    )
    let metadata = record.loadUnaligned(fromByteOffset: Self.metadata, as: UInt32.self)
    sighting = Sighting(
      advertisement: Advertisement(
        identifier: RollingProximityIdentifier(words: words),
        metadata: AssociatedEncryptedMetadata(storedWord: metadata)),
      time: record.time(at: Self.time), signalStrength: Int8(bitPattern: record[Self.strength]))
  }

  func add(to records: inout LogRecords) {
    let words = sighting.advertisement.identifier.words
    Self.append(to: &records) { bytes in
      bytes.storeBytes(of: words.0, toByteOffset: 1, as: UInt64.self)
      bytes.storeBytes(of: words.1, toByteOffset: 9, as: UInt64.self)
      bytes.storeBytes(
        of: sighting.advertisement.metadata.storedWord, toByteOffset: Self.metadata,
        as: UInt32.self)
      bytes.store(sighting.time, at: Self.time)
      bytes[Self.strength] = UInt8(bitPattern: sighting.signalStrength)
    }
  }
}

/// A record of fixed size, whose first byte is its kind.
private protocol ContactRecord {
  static var kind: UInt8 { get }
  static var byteCount: Int { get }
}

extension ContactRecord {
  /// Returns `true` if the record has this kind and its size.
  fileprivate static func isKind(of record: UnsafeRawBufferPointer) -> Bool {
    record.count == byteCount && record[0] == kind
  }

  /// Appends a record, of which `fill` writes all but the kind.
  fileprivate static func append(
    to records: inout LogRecords, _ fill: (UnsafeMutableRawBufferPointer) -> Void
  ) {
    records.append(byteCount: byteCount) { bytes in
      bytes[0] = kind
      fill(bytes)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The time in eight bytes.
  fileprivate func time(at offset: Int) -> Date {
    let pattern = UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    return Date(timeIntervalSince1970: Double(bitPattern: pattern))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Writes a time in eight bytes.
  fileprivate func store(_ time: Date, at offset: Int) {
    storeBytes(
      of: time.timeIntervalSince1970.bitPattern.bigEndian, toByteOffset: offset, as: UInt64.self)
  }
}
