import CLibArchive
import Foundation
import World

/// Writes the entries of a tar archive to an open file.
final class TarWriter {
  private let archive: OpaquePointer

  /// - Throws: `POSIXError` if libarchive cannot start an archive.
  init(to descriptor: Int32) throws {
    guard let archive = archive_write_new() else { throw POSIXError(.ENOMEM) }
    self.archive = archive
    // The format stores sizes beyond 8 GiB, and any tar reads it.
    guard archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK,
      archive_write_open_fd(archive, descriptor) == ARCHIVE_OK
    else { throw POSIXError(.EIO) }
  }

  deinit { archive_write_free(archive) }

  /// Begins an entry that can be read by its owner only.
  func begin(_ name: String, byteCount: Int) throws {
    guard let entry = archive_entry_new() else { throw POSIXError(.ENOMEM) }
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, name)
    archive_entry_set_size(entry, la_int64_t(byteCount))
    archive_entry_set_filetype(entry, TarReader.plainFile)
    archive_entry_set_perm(entry, 0o600)
    guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw POSIXError(.EIO) }
  }

  /// Appends to the content of the entry.
  func append(_ data: Data) throws {
    let written = data.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
    guard written == data.count else { throw POSIXError(.EIO) }
  }

  /// Writes the end of the archive.
  func close() throws {
    guard archive_write_close(archive) == ARCHIVE_OK else { throw POSIXError(.EIO) }
  }
}

/// Reads the entries of a tar archive in order.
final class TarReader {
  /// `AE_IFREG`, a macro that Swift does not import.
  static let plainFile: UInt32 = 0o100000

  private let archive: OpaquePointer

  /// - Throws: `POSIXError` if the file cannot be opened as a tar archive.
  init(_ url: URL) throws {
    guard let archive = archive_read_new() else { throw POSIXError(.ENOMEM) }
    self.archive = archive
    guard archive_read_support_format_tar(archive) == ARCHIVE_OK,
      archive_read_open_filename(archive, url.path, FileChunks.bytesMax) == ARCHIVE_OK
    else { throw POSIXError(.EIO) }
  }

  deinit { archive_read_free(archive) }

  /// The name of the next entry; nil at the end.
  ///
  /// - Throws: `POSIXError` if the archive is damaged, or the entry is not a plain file.
  func next() throws -> String? {
    var entry: OpaquePointer?
    switch archive_read_next_header(archive, &entry) {
    case ARCHIVE_EOF: return nil
    case ARCHIVE_OK: break
    default: throw POSIXError(.EIO)
    }
    guard archive_entry_filetype(entry) == Self.plainFile, archive_entry_symlink(entry) == nil,
      archive_entry_hardlink(entry) == nil, let name = archive_entry_pathname(entry)
    else { throw POSIXError(.EIO) }
    return String(cString: name)
  }

  /// Passes the content of the entry to `body`, in parts.
  func read(_ body: (Data) throws -> Void) throws {
    var buffer = [UInt8](repeating: 0, count: FileChunks.bytesMax)
    while true {
      let count = buffer.withUnsafeMutableBytes {
        archive_read_data(archive, $0.baseAddress, $0.count)
      }
      guard count >= 0 else { throw POSIXError(.EIO) }
      guard count > 0 else { return }
      try body(Data(buffer[..<count]))
    }
  }
}
