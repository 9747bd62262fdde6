import CLibArchive
import Foundation

/// A zip of one or two entries, written as a stream; the same content gives the same bytes.
final class ZipWriter {
  /// Deflate's level. Documentation/KeyFiles.md 6.4 has the measurement: a file is deflated once and
  /// fetched by every phone.
  static let deflateLevel = KeyFileWriter.deflateLevel

  private let archive: OpaquePointer

  /// Begins a zip in an open, empty file, which stays open.
  init(_ descriptor: Int32) throws(KeyFileError) {
    guard let archive = archive_write_new() else { throw .cannotWrite(ENOMEM) }
    self.archive = archive
    try check(archive_write_set_format_zip(archive))
    // An entry's size is said behind it, as Google's server does. Old readers lack zip64.
    try check(
      archive_write_set_options(archive, "zip:compression-level=\(Self.deflateLevel),!zip64"))
    // No padding to a tape's block.
    try check(archive_write_set_bytes_in_last_block(archive, 1))
    try check(archive_write_open_fd(archive, descriptor))
  }

  deinit {
    archive_write_free(archive)
  }

  /// Begins an entry; what is written next goes into it.
  func begin(_ part: ExportPart) throws(KeyFileError) {
    guard let entry = archive_entry_new() else { throw .cannotWrite(ENOMEM) }
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, part.rawValue)
    archive_entry_set_mode(entry, 0o100644)
    // No date: libarchive then writes 1980-01-01 in every time zone, and no file tells when it was made.
    try check(archive_write_header(archive, entry))
  }

  /// Writes on in the entry.
  func write(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    let count = archive_write_data(archive, bytes.baseAddress, bytes.count)
    guard count == bytes.count else { throw failure() }
  }

  /// Ends the entry.
  func end() throws(KeyFileError) {
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
