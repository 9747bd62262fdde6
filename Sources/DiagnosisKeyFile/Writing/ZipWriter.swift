import CZlib
import Foundation
import World

/// A zip of one or two entries, written as a stream; the same content gives the same bytes.
///
/// By hand, because an entry's pieces are deflated side by side, which libarchive does not:
/// Documentation/Decisions/0011-our-own-zips.md.
struct ZipWriter {
  private let file: AppendedFile
  private let threads: Int
  private let streams = DeflateStreamPool()
  private var entries: [ZipEntryRecord] = []

  /// Begins a zip in an open, empty file, which stays open. It is deflated on `threads` threads
  /// (`DeflateLimit.threads`, brought inside), the caller's included.
  init(_ descriptor: Int32, threads: Int = DeflateThreads.available) {
    file = AppendedFile(descriptor)
    self.threads = threads
  }

  /// Writes an entry with what `fill` appends to it.
  ///
  /// When this returns or throws, no other thread is at work on it.
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

  /// Writes the list of entries, and its end: APPNOTE.TXT 4.3.16.
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

/// What a zip says of one entry: before it, behind it and in the list at the end. APPNOTE.TXT 4.3.
///
/// Documentation/KeyFiles.md 6.2 says why each value is what it is.
struct ZipEntryRecord {
  let part: ExportPart
  /// Where the entry begins in the file.
  let offset: Int
  var checksum = CRC32()
  var deflatedByteCount = 0

  private static let localSignature: UInt32 = 0x0403_4b50
  private static let descriptorSignature: UInt32 = 0x0807_4b50
  private static let listedSignature: UInt32 = 0x0201_4b50
  /// 2.0, the first that deflates.
  private static let versionNeeded: UInt16 = 20
  /// The same, on Unix, whose rights `attributes` has.
  private static let versionMadeBy: UInt16 = 3 << 8 | 20
  /// CRC-32 and sizes stand behind the entry.
  private static let flags: UInt16 = 1 << 3
  private static let deflated: UInt16 = 8
  /// 1980-01-01, the earliest there is: no file tells when it was made.
  private static let (time, date): (UInt16, UInt16) = (0, 1 << 5 | 1)
  /// A plain file that everybody may read.
  private static let attributes: UInt32 = 0o100644 << 16

  /// 4.3.7, the local file header.
  var header: [UInt8] {
    let unknown = [UInt8](repeating: 0, count: 12)
    return Self.localSignature.littleEndianBytes + kind + unknown + nameLengths + name
  }

  /// 4.3.9, the data descriptor.
  var descriptor: [UInt8] {
    Self.descriptorSignature.littleEndianBytes + checksumAndSizes
  }

  /// 4.3.12, the central directory header.
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
    [checksum.value, UInt32(deflatedByteCount), UInt32(checksum.byteCount)].flatMap(\.littleEndianBytes)
  }

  /// Of the name, and of the extra field that there is none of.
  private var nameLengths: [UInt8] {
    [UInt16(name.count), 0].flatMap(\.littleEndianBytes)
  }

  private var name: [UInt8] { Array(part.rawValue.utf8) }
}

extension FixedWidthInteger {
  /// As a zip has its numbers.
  var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}

/// CRC-32 of some bytes, as a zip has it, and their number; two that lie beside each other add up.
struct CRC32: Sendable {
  private(set) var value: UInt32 = 0
  private(set) var byteCount = 0

  /// Of no bytes.
  init() {}

  /// Of `bytes`.
  init(of bytes: UnsafeBufferPointer<UInt8>) {
    value = UInt32(truncatingIfNeeded: crc32_z(0, bytes.baseAddress, z_size_t(bytes.count)))
    byteCount = bytes.count
  }

  /// Goes on with the bytes that come next.
  mutating func append(_ next: CRC32) {
    let joined = crc32_combine(UInt(value), UInt(next.value), next.byteCount)
    value = UInt32(truncatingIfNeeded: joined)
    byteCount += next.byteCount
  }
}

/// An open file that only grows, and how far it has.
final class AppendedFile {
  private let descriptor: Int32
  /// How many bytes were written.
  private(set) var byteCount = 0

  /// Writes to an open, empty file, which stays open.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes all of `bytes`.
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
