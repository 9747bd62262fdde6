// SPDX-License-Identifier: Apache-2.0
import CZlib
import Foundation
import World

/// Writes a zip of one or two entries as a stream; the same content gives the same bytes.
///
/// libarchive cannot be used because it deflates an entry on a single thread; see
/// Documentation/Decisions/0011-our-own-zips.md.
struct ZipWriter {
  private let file: AppendedFile
  private let threads: Int
  private let streams = DeflateStreamPool()
  private var entries: [ZipEntryRecord] = []

  /// Begins a zip in an open, empty file, which stays open. `threads` includes the calling thread and is
  /// clamped to `DeflateLimit.threads`.
  init(_ descriptor: Int32, threads: Int = DeflateThreads.available) {
    file = AppendedFile(descriptor)
    self.threads = threads
  }

  /// Writes an entry with the content that `fill` appends.
  ///
  /// All threads have finished when this returns or throws.
  mutating func add<Result>(
    _ part: ExportPart, _ fill: (DeflatedEntry) throws -> Result
  ) throws -> Result {
    var record = ZipEntryRecord(part: part, offset: file.byteCount)
    try record.header.withRawBytes(file.append)
    let begin = file.byteCount
    let pool = DeflatePool(
      threads: DeflateThreads.clamped(threads),
      queuedPerThreadMax: DeflateLimit.queuedPiecesPerThreadMax,
      inFlightMax: DeflateLimit.piecesInFlightMax, perform: streams.deflate)
    defer { pool.cancel() }
    let entry = DeflatedEntry(in: file, byteCountMax: part.byteCountMax, pool: pool)
    let result = try fill(entry)
    try entry.finish()
    record.checksum = entry.checksum
    record.deflatedByteCount = file.byteCount - begin
    try record.descriptor.withRawBytes(file.append)
    entries.append(record)
    return result
  }

  /// Writes the central directory and the end of central directory record: APPNOTE.TXT 4.3.16.
  func finish() throws(KeyFileError) {
    let list = entries.flatMap(\.listed)
    let disks: UInt32 = 0
    let count = UInt16(entries.count).littleEndianBytes
    let comment: UInt16 = 0
    let end =
      ZipDirectory.end + disks.littleEndianBytes + count + count
      + UInt32(list.count).littleEndianBytes + UInt32(file.byteCount).littleEndianBytes
      + comment.littleEndianBytes
    try (list + end).withRawBytes(file.append)
  }
}

/// The records of one entry: local header, data descriptor and central directory header. APPNOTE.TXT 4.3.
struct ZipEntryRecord {
  let part: ExportPart
  /// The position of the entry in the file.
  let offset: Int
  var checksum = CRC32()
  var deflatedByteCount = 0

  private static let localSignature: UInt32 = 0x0403_4b50
  private static let descriptorSignature: UInt32 = 0x0807_4b50
  private static let listedSignature: UInt32 = 0x0201_4b50
  /// Version 2.0, the first with deflate.
  private static let versionNeeded: UInt16 = 20
  /// Version 2.0 on Unix, so that `attributes` holds permissions.
  private static let versionMadeBy: UInt16 = 3 << 8 | 20
  /// Checksum and sizes are in the data descriptor.
  private static let flags: UInt16 = 1 << 3
  private static let deflated: UInt16 = 8
  /// 1980-01-01, the earliest possible date: files do not reveal when they were written.
  private static let (time, date): (UInt16, UInt16) = (0, 1 << 5 | 1)
  /// A regular file with mode 0644.
  private static let attributes: UInt32 = 0o100644 << 16

  /// The local file header, 4.3.7.
  var header: [UInt8] {
    let unknown = [UInt8](repeating: 0, count: 12)
    return Self.localSignature.littleEndianBytes + kind + unknown + nameLengths + name
  }

  /// The data descriptor, 4.3.9.
  var descriptor: [UInt8] {
    Self.descriptorSignature.littleEndianBytes + checksumAndSizes
  }

  /// The central directory header, 4.3.12.
  var listed: [UInt8] {
    let comment: UInt16 = 0
    let disk: UInt16 = 0
    let isText: UInt16 = 0
    return Self.listedSignature.littleEndianBytes + Self.versionMadeBy.littleEndianBytes + kind
      + checksumAndSizes + nameLengths + comment.littleEndianBytes + disk.littleEndianBytes
      + isText.littleEndianBytes + Self.attributes.littleEndianBytes
      + UInt32(offset).littleEndianBytes + name
  }

  private var kind: [UInt8] {
    [Self.versionNeeded, Self.flags, Self.deflated, Self.time, Self.date]
      .flatMap(\.littleEndianBytes)
  }

  private var checksumAndSizes: [UInt8] {
    [checksum.value, UInt32(deflatedByteCount), UInt32(checksum.byteCount)].flatMap(
      \.littleEndianBytes)
  }

  /// The lengths of the name and of the extra field, which is empty.
  private var nameLengths: [UInt8] {
    [UInt16(name.count), 0].flatMap(\.littleEndianBytes)
  }

  private var name: [UInt8] { Array(part.rawValue.utf8) }
}

extension FixedWidthInteger {
  var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}

/// The CRC-32 of some bytes, and their number. Two checksums of adjacent bytes can be combined.
struct CRC32: Sendable {
  private(set) var value: UInt32 = 0
  private(set) var byteCount = 0

  /// The checksum of no bytes.
  init() {}

  init(of bytes: UnsafeBufferPointer<UInt8>) {
    value = UInt32(truncatingIfNeeded: crc32_z(0, bytes.baseAddress, z_size_t(bytes.count)))
    byteCount = bytes.count
  }

  /// Combines this checksum with that of the following bytes.
  mutating func append(_ next: CRC32) {
    let joined = crc32_combine(UInt(value), UInt(next.value), next.byteCount)
    value = UInt32(truncatingIfNeeded: joined)
    byteCount += next.byteCount
  }
}

/// An open file that is only appended to.
final class AppendedFile {
  private let descriptor: Int32
  /// The number of bytes written.
  private(set) var byteCount = 0

  /// Appends to an open, empty file, which stays open.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let left = UnsafeRawBufferPointer(rebasing: rest)
      let count = write(descriptor, left.baseAddress, left.count)
      guard count > 0 else { throw KeyFileError(writing: errno) }
      byteCount += count
      rest = rest.dropFirst(count)
    }
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` with a typed error.
  func withRawBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(KeyFileError) -> Result
  ) throws(KeyFileError) -> Result {
    try withUnsafeBufferPointer { bytes throws(KeyFileError) in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }
}
