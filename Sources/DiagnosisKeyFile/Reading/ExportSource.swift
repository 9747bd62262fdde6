// SPDX-License-Identifier: Apache-2.0
import CLibArchive
import Foundation

/// A source of both halves of a key file, chunk by chunk.
protocol ExportSource {
  /// Passes all chunks of both halves to `receive`. The chunks of a half come in order, the halves in any.
  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws

  /// The deviations from the format in the file.
  var deviations: [KeyFileDeviation] { get }
}

extension ExportSource {
  /// None: a strict source rejects them.
  var deviations: [KeyFileDeviation] { [] }
}

extension ZipSource {
  /// The source for the file at `url`, chosen by its first bytes, not by its name.
  static func source(at url: URL) throws(KeyFileError) -> any ExportSource {
    let file = try ReadableFile(url)
    guard file.byteCount <= KeyFileLimit.fileByteCountMax else { throw .tooLarge }
    let head = try file.bytes(at: 0, count: ExportFormat.magic.count)
    if head == ExportFormat.magic { return PairSource(export: url) }
    guard head.starts(with: ZipDirectory.localEntry) else { throw .notAKeyFile }
    return ZipSource(url: url, byteCount: file.byteCount)
  }
}

/// A downloaded key file: a zip of `export.bin` and `export.sig`, inflated as a stream.
struct ZipSource: ExportSource {
  let url: URL
  let byteCount: Int

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    let directory = try ZipDirectory(of: try ReadableFile(url))
    let archive = try Self.open {
      archive_read_open_filename($0, url.path, KeyFileLimit.chunkByteCount)
    }
    defer { archive_read_free(archive) }
    var budget = byteCount * KeyFileLimit.expansionMax
    var seen: Set<ExportPart> = []
    while let part = try nextPart(of: archive) {
      guard seen.insert(part).inserted else { throw KeyFileError.duplicateEntry }
      try Self.readContent(of: archive, part, within: &budget, receive)
    }
    guard seen.contains(.export) else { throw KeyFileError.missingExport }
    // Two directory entries can point to the same entry of the file.
    guard seen.count == directory.entryCount else { throw KeyFileError.duplicateEntry }
  }

  /// Opens a zip; the caller frees the result.
  ///
  /// - Parameter open: Gives libarchive the file or the memory, and returns its status.
  static func open(_ open: (OpaquePointer) -> Int32) throws(KeyFileError) -> OpaquePointer {
    guard let archive = archive_read_new() else { throw .cannotRead(ENOMEM) }
    // The seekable reader uses the directory at the end: sizes before the data are zero in streamed zips.
    guard archive_read_support_format_zip_seekable(archive) == ARCHIVE_OK,
      open(archive) == ARCHIVE_OK
    else {
      archive_read_free(archive)
      throw .damagedZip
    }
    return archive
  }

  /// Returns the next entry, or nil at the end.
  private func nextPart(of archive: OpaquePointer) throws(KeyFileError) -> ExportPart? {
    var entry: OpaquePointer?
    let result = archive_read_next_header(archive, &entry)
    guard result != ARCHIVE_EOF else { return nil }
    guard result == ARCHIVE_OK, let entry else { throw .damagedZip }
    guard let name = archive_entry_pathname(entry),
      let part = ExportPart(rawValue: String(cString: name))
    else { throw .unexpectedEntry }
    let isPlain =
      archive_entry_filetype(entry) == Self.plainFile && archive_entry_symlink(entry) == nil
      && archive_entry_hardlink(entry) == nil && archive_entry_is_encrypted(entry) == 0
    guard isPlain else { throw .notAPlainEntry }
    guard archive_entry_size(entry) <= part.byteCountMax else { throw .tooLarge }
    return part
  }

  private static let plainFile: mode_t = 0o100000

  /// Passes the content of the current entry to `receive`.
  static func readContent(
    of archive: OpaquePointer, _ part: ExportPart, within budget: inout Int,
    _ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var byteCount = 0
    while let block = try nextBlock(of: archive, at: byteCount) {
      byteCount += block.count
      budget -= block.count
      guard byteCount <= part.byteCountMax else { throw KeyFileError.tooLarge }
      guard budget >= 0 else { throw KeyFileError.expandsTooMuch }
      try receive(part, block)
    }
  }

  /// Returns the next bytes in libarchive's memory, at most 256 KiB, or nil at the end of the entry, after
  /// libarchive has checked its size and CRC.
  private static func nextBlock(
    of archive: OpaquePointer, at expected: Int
  ) throws(KeyFileError) -> UnsafeRawBufferPointer? {
    var start: UnsafeRawPointer?
    var count = 0
    var offset: la_int64_t = 0
    let result = archive_read_data_block(archive, &start, &count, &offset)
    guard result != ARCHIVE_EOF else { return nil }
    guard result == ARCHIVE_OK, offset == la_int64_t(expected) else { throw .damagedZip }
    return UnsafeRawBufferPointer(start: start, count: count)
  }
}

/// The end of a zip: the number of entries and the position of the central directory.
///
/// It is checked before libarchive sees the file, since libarchive reads a directory of any length into
/// memory. A key file has no comment, is a single file and needs no zip64. APPNOTE.TXT 4.3.16.
struct ZipDirectory {
  /// The signature of a local file header, with which every zip with content begins.
  static let localEntry: [UInt8] = [0x50, 0x4b, 0x03, 0x04]
  /// The signature of the end of central directory record.
  static let end: [UInt8] = [0x50, 0x4b, 0x05, 0x06]
  /// The signature of the locator of a zip64 end of central directory record.
  static let zip64Locator: [UInt8] = [0x50, 0x4b, 0x06, 0x07]
  private static let endByteCount = 22
  private static let zip64LocatorByteCount = 20

  let entryCount: Int

  /// Reads the end of `file`; throws if it is not the end of a plain zip within the limits.
  init(of file: ReadableFile) throws(KeyFileError) {
    let start = file.byteCount - Self.endByteCount
    guard start >= 0 else { throw .damagedZip }
    let record = try file.bytes(at: start, count: Self.endByteCount)
    guard record.count == Self.endByteCount, record.starts(with: Self.end) else {
      throw .damagedZip
    }
    func number(_ range: Range<Int>) -> Int {
      record[range].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let (disks, entries, entriesHere) = (number(4..<8), number(10..<12), number(8..<10))
    let (byteCount, offset, comment) = (number(12..<16), number(16..<20), number(20..<22))
    guard disks == 0, comment == 0, offset + byteCount == start, entries == entriesHere else {
      throw .damagedZip
    }
    guard 1...KeyFileLimit.entryCountMax ~= entries else { throw .wrongEntryCount }
    guard byteCount <= KeyFileLimit.zipDirectoryByteCountMax else { throw .damagedZip }
    let before = try file.bytes(
      at: max(0, start - Self.zip64LocatorByteCount), count: Self.zip64LocatorByteCount)
    guard !before.starts(with: Self.zip64Locator) else { throw .damagedZip }
    entryCount = entries
    try checkMethods(in: try file.bytes(at: offset, count: byteCount))
  }

  /// Accepts only stored and deflated entries: libarchive's other methods may use gigabytes of memory.
  private func checkMethods(in list: [UInt8]) throws(KeyFileError) {
    func number(_ place: Int) -> Int { Int(list[place]) | Int(list[place + 1]) << 8 }
    var place = 0
    for _ in 0..<entryCount {
      guard place + Self.listedByteCount <= list.count,
        list[place...].starts(with: Self.listedEntry), Self.methods.contains(number(place + 10))
      else { throw .damagedZip }
      place += Self.listedByteCount + number(place + 28) + number(place + 30) + number(place + 32)
    }
    // libarchive reads up to the end, also more entries than are stated.
    guard place == list.count else { throw .damagedZip }
  }

  /// The signature of an entry of the central directory.
  static let listedEntry: [UInt8] = [0x50, 0x4b, 0x01, 0x02]
  private static let listedByteCount = 46
  /// Stored and deflated.
  static let methods = [0, 8]
}

/// A key file without a zip: an export beside its signatures, `x.bin` and `x.sig`.
struct PairSource: ExportSource {
  let export: URL
  /// The extension of the signatures' file name.
  var signaturesExtension = "sig"

  var signatures: URL {
    export.deletingPathExtension().appendingPathExtension(signaturesExtension)
  }

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    try read(export, as: .export, receive)
    do {
      try read(signatures, as: .signatures, receive)
    } catch let error as KeyFileError where error == .cannotRead(ENOENT) {
      // Without signatures the file can be inspected, but not verified.
    }
  }

  private func read(
    _ url: URL, as part: ExportPart,
    _ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let file = try ReadableFile(url)
    guard file.byteCount <= part.byteCountMax else { throw KeyFileError.tooLarge }
    try file.readAll { chunk in try receive(part, chunk) }
  }
}

/// An open file; closed with its last reference.
final class ReadableFile {
  let byteCount: Int
  private let descriptor: Int32

  /// Opens `url`, which must be a regular file.
  init(_ url: URL) throws(KeyFileError) {
    // O_NONBLOCK, so that a pipe is rejected instead of waited for.
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .cannotRead(errno) }
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      byteCount = 0
      throw .cannotRead(errno)
    }
    byteCount = Int(status.st_size)
    guard status.st_mode & 0o170000 == 0o100000 else { throw .notAKeyFile }
  }

  deinit {
    close(descriptor)
  }

  /// Returns `count` bytes at `offset`, or fewer at the end of the file.
  func bytes(at offset: Int, count: Int) throws(KeyFileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(descriptor, &bytes, count, off_t(offset))
    guard read >= 0 else { throw .cannotRead(errno) }
    return Array(bytes.prefix(read))
  }

  /// Passes the whole file on in chunks, all in one buffer.
  func readAll(_ receive: (UnsafeRawBufferPointer) throws -> Void) throws {
    var chunk = [UInt8](repeating: 0, count: KeyFileLimit.chunkByteCount)
    var offset = 0
    while true {
      let count = pread(descriptor, &chunk, chunk.count, off_t(offset))
      guard count >= 0 else { throw KeyFileError.cannotRead(errno) }
      guard count > 0 else { return }
      try chunk.withUnsafeBytes { try receive(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += count
    }
  }
}
