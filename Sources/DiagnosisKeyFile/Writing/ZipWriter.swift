import CLibArchive
import Foundation

/// A zip of one or two entries, written as a stream; the same content gives the same bytes.
final class ZipWriter {
  /// Deflate's usual level. Keys are random: from level 1 to 9 the size changes by less than 2 in 100,
  /// the time by five times.
  static let deflateLevel = "6"

  private let archive: OpaquePointer

  /// Begins a zip in an open, empty file, which stays open.
  init(_ descriptor: Int32) throws(KeyFileError) {
    guard let archive = archive_write_new() else { throw .cannotWrite(ENOMEM) }
    self.archive = archive
    try check(archive_write_set_format_zip(archive))
    try check(archive_write_set_options(archive, "zip:compression-level=\(Self.deflateLevel)"))
    // No padding to a tape's block.
    try check(archive_write_set_bytes_in_last_block(archive, 1))
    try check(archive_write_open_fd(archive, descriptor))
  }

  deinit {
    archive_write_free(archive)
  }

  /// Adds an entry of exactly `byteCount` bytes, which `chunks` hands over.
  func add(
    _ part: ExportPart, byteCount: Int,
    chunks: ((UnsafeRawBufferPointer) throws(KeyFileError) -> Void) throws(KeyFileError) -> Void
  ) throws(KeyFileError) {
    guard let entry = archive_entry_new() else { throw .cannotWrite(ENOMEM) }
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, part.rawValue)
    archive_entry_set_mode(entry, 0o100644)
    // No date: libarchive then writes 1980-01-01 in every time zone, and no file tells when it was made.
    // Said beforehand, so that the entry needs no zip64, which old readers lack.
    archive_entry_set_size(entry, Int64(byteCount))
    try check(archive_write_header(archive, entry))
    try chunks { chunk throws(KeyFileError) in
      let count = archive_write_data(archive, chunk.baseAddress, chunk.count)
      guard count == chunk.count else { throw self.failure() }
    }
    try check(archive_write_finish_entry(archive))
  }

  /// Writes the list of entries.
  func finish() throws(KeyFileError) {
    try check(archive_write_close(archive))
  }

  private func check(_ result: Int32) throws(KeyFileError) {
    guard result == ARCHIVE_OK else { throw failure() }
  }

  private func failure() -> KeyFileError {
    KeyFileError(writing: archive_errno(archive))
  }
}
