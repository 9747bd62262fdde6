import CLibArchive
import Foundation
import Synchronization

/// A zip of one or two entries, written as a stream; the same content gives the same bytes.
///
/// Threads may take turns with it.
final class ZipWriter: Sendable {
  /// Deflate's level. Documentation/KeyFiles.md 6.4 has the measurement: a file is deflated once and
  /// fetched by every phone.
  static let deflateLevel = KeyFileWriter.deflateLevel

  private let archive: Mutex<OpaquePointer>

  /// Begins a zip in an open, empty file, which stays open.
  init(_ descriptor: Int32) throws(KeyFileError) {
    guard let archive = archive_write_new() else { throw .cannotWrite(ENOMEM) }
    self.archive = Mutex(archive)
    try whereOK { archive_write_set_format_zip($0) }
    // An entry's size is said behind it, as Google's server does. Old readers lack zip64.
    try whereOK {
      archive_write_set_options($0, "zip:compression-level=\(Self.deflateLevel),!zip64")
    }
    // No padding to a tape's block.
    try whereOK { archive_write_set_bytes_in_last_block($0, 1) }
    try whereOK { archive_write_open_fd($0, descriptor) }
  }

  deinit {
    archive.withLock { _ = archive_write_free($0) }
  }

  /// Begins an entry; what is written next goes into it.
  func begin(_ part: ExportPart) throws(KeyFileError) {
    guard let entry = archive_entry_new() else { throw .cannotWrite(ENOMEM) }
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, part.rawValue)
    archive_entry_set_mode(entry, 0o100644)
    // No date: libarchive then writes 1980-01-01 in every time zone, and no file tells when it was made.
    try whereOK { archive_write_header($0, entry) }
  }

  /// Writes on in the entry.
  func write(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    try whereOK {
      archive_write_data($0, bytes.baseAddress, bytes.count) == bytes.count
        ? ARCHIVE_OK : ARCHIVE_FATAL
    }
  }

  /// Ends the entry.
  func end() throws(KeyFileError) {
    try whereOK { archive_write_finish_entry($0) }
  }

  /// Writes the list of entries.
  func finish() throws(KeyFileError) {
    try whereOK { archive_write_close($0) }
  }

  private func whereOK(_ act: (OpaquePointer) -> Int32) throws(KeyFileError) {
    try archive.withLock { archive throws(KeyFileError) in
      guard act(archive) == ARCHIVE_OK else { throw KeyFileError(writing: archive_errno(archive)) }
    }
  }
}
