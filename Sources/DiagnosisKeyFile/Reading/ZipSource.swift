import CLibArchive
import Foundation

/// A key file as it is downloaded: a zip of `export.bin` and `export.sig`, inflated as a stream.
struct ZipSource: ExportSource {
  let url: URL
  let byteCount: Int

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    let directory = try ZipDirectory(of: try ReadableFile(url))
    let archive = try open()
    defer { archive_read_free(archive) }
    var budget = byteCount * KeyFileLimit.expansionMax
    var seen: Set<ExportPart> = []
    while let part = try nextPart(of: archive) {
      guard seen.insert(part).inserted else { throw KeyFileError.duplicateEntry }
      try readContent(of: archive, part, within: &budget, receive)
    }
    guard seen.contains(.export) else { throw KeyFileError.missingExport }
    // Two entries in the list that are one and the same in the file.
    guard seen.count == directory.entryCount else { throw KeyFileError.duplicateEntry }
  }

  private func open() throws(KeyFileError) -> OpaquePointer {
    guard let archive = archive_read_new() else { throw .cannotRead(ENOMEM) }
    // The reader that trusts the list at the zip's end: sizes before the data are zero in streamed zips.
    guard archive_read_support_format_zip_seekable(archive) == ARCHIVE_OK,
      archive_read_open_filename(archive, url.path, KeyFileLimit.chunkByteCount) == ARCHIVE_OK
    else {
      archive_read_free(archive)
      throw .damagedZip
    }
    return archive
  }

  /// The next entry, or nil at the end.
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

  private func readContent(
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

  /// The next bytes where libarchive holds them, at most 256 KiB; nil at the end of the entry, whose
  /// size and CRC then held.
  private func nextBlock(
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
