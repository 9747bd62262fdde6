// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes a zip of one or two deflated entries; the same content gives the same bytes.
///
/// libarchive cannot be used because it deflates with zlib, and accepts no compressed entries; see
/// Documentation/Decisions/0011-our-own-zips.md.
struct ZipWriter {
  private let file: AppendedFile
  private var entries: [ZipEntryRecord] = []

  /// Begins a zip in an open, empty file, which stays open.
  init(_ descriptor: Int32) {
    file = AppendedFile(descriptor)
  }

  /// The written part of a zip.
  struct Progress: Sendable {
    fileprivate let entries: [ZipEntryRecord]
    fileprivate let byteCount: Int
  }

  /// Continues a zip in a file that is open for appending, which stays open.
  init(_ descriptor: Int32, continuing progress: Progress) {
    file = AppendedFile(descriptor, byteCount: progress.byteCount)
    entries = progress.entries
  }

  /// The part that is written.
  var progress: Progress { Progress(entries: entries, byteCount: file.byteCount) }

  /// Writes an entry with the content that `fill` appends.
  mutating func add<Result>(
    _ part: ExportPart, _ fill: (ZipEntryContent) throws -> Result
  ) throws -> Result {
    let content = try ZipEntryContent(byteCountMax: part.byteCountMax)
    let result = try fill(content)
    try content.deflated { deflated throws(KeyFileError) in
      let record = ZipEntryRecord(
        part: part, offset: file.byteCount, checksum: content.checksum.value,
        byteCount: content.byteCount, deflatedByteCount: deflated.count)
      try record.header.withRawBytes(file.append)
      try file.append(deflated)
      entries.append(record)
    }
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

/// The records of one entry: local header and central directory header. APPNOTE.TXT 4.3.
struct ZipEntryRecord: Sendable {
  let part: ExportPart
  /// The position of the entry in the file.
  let offset: Int
  /// The CRC-32 of the content.
  let checksum: UInt32
  let byteCount: Int
  let deflatedByteCount: Int

  /// Version 2.0, the first with deflate.
  private static let versionNeeded: UInt16 = 20
  /// Version 2.0 on Unix, so that `attributes` holds permissions.
  private static let versionMadeBy: UInt16 = 3 << 8 | 20
  private static let deflated: UInt16 = 8
  /// 1980-01-01, the earliest possible date: files do not reveal when they were written.
  private static let (time, date): (UInt16, UInt16) = (0, 1 << 5 | 1)
  /// A regular file with mode 0644.
  private static let attributes: UInt32 = 0o100644 << 16

  /// The local file header, 4.3.7.
  var header: [UInt8] { ZipDirectory.localEntry + common + name }

  /// The central directory header, 4.3.12.
  var listed: [UInt8] {
    let comment: UInt16 = 0
    let disk: UInt16 = 0
    let isText: UInt16 = 0
    return ZipDirectory.listedEntry + Self.versionMadeBy.littleEndianBytes + common
      + comment.littleEndianBytes + disk.littleEndianBytes + isText.littleEndianBytes
      + Self.attributes.littleEndianBytes + UInt32(offset).littleEndianBytes + name
  }

  /// The fields that both headers have: version, flags and method, date, checksum and sizes, and the lengths of the
  /// name and of the extra field, which is empty.
  private var common: [UInt8] {
    let flags: UInt16 = 0
    return [Self.versionNeeded, flags, Self.deflated, Self.time, Self.date]
      .flatMap(\.littleEndianBytes)
      + [checksum, UInt32(deflatedByteCount), UInt32(byteCount)].flatMap(\.littleEndianBytes)
      + [UInt16(name.count), 0].flatMap(\.littleEndianBytes)
  }

  private var name: [UInt8] { Array(part.rawValue.utf8) }
}

extension FixedWidthInteger {
  fileprivate var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}

/// An open file that is only appended to.
final class AppendedFile {
  private let descriptor: Int32
  /// The number of bytes written.
  private(set) var byteCount: Int

  /// Appends to an open file of this size, which stays open.
  init(_ descriptor: Int32, byteCount: Int = 0) {
    (self.descriptor, self.byteCount) = (descriptor, byteCount)
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
