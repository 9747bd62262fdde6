// SPDX-License-Identifier: Apache-2.0
import CLibArchive
import Crypto
import Foundation
import GRDB
import World

/// Extracts a backup into a new folder, and checks every byte of it.
package enum BackupReader {
  /// Extracts the backup `url` into the empty folder `folder`.
  ///
  /// - Parameter isWanted: Returns `false` for the name of a file that is checked but not written.
  /// - Returns: The manifest; each of its wanted files is in `folder`, with mode 0600 and synced.
  /// - Throws: `BackupError`; then `folder` may have some of the files.
  package static func extract(
    _ url: URL, into folder: URL, where isWanted: (String) -> Bool = { _ in true }
  ) throws(BackupError) -> BackupManifest {
    var entries: [BackupManifest.Entry] = []
    var manifest: BackupManifest?
    do {
      let archive = try TarReader(url)
      while let name = try archive.next() {
        // The manifest ends the backup.
        guard manifest == nil else { throw BackupError.damagedBackup(url) }
        if name == BackupManifest.fileName {
          manifest = try JSONDecoder().decode(BackupManifest.self, from: try content(of: archive))
        } else {
          guard isPlain(name) else { throw BackupError.damagedBackup(url) }
          let target = isWanted(name) ? folder.appendingPathComponent(name) : nil
          entries.append(try extract(name, from: archive, to: target))
        }
      }
    } catch let error as BackupError {
      throw error
    } catch let error as FileError {
      throw .notWritten(URL(fileURLWithPath: error.path))
    } catch {
      throw .damagedBackup(url)
    }
    guard let manifest, manifest.files == entries else { throw .damagedBackup(url) }
    return manifest
  }

  /// Checks the structure of the extracted database `file` of the backup `url`.
  ///
  /// - Throws: `BackupError.newerDatabase`; `.damagedBackup`.
  package static func check(
    _ file: URL, schema: DatabaseSchema, of url: URL
  ) throws(BackupError) {
    do {
      let database = try ServerDatabase.openForReading(file, schema: schema)
      guard try database.read(DatabaseCheck.isIntact) else { throw BackupError.damagedBackup(url) }
      try database.close()
    } catch ServerDatabaseError.newer {
      throw .newerDatabase(schema.name)
    } catch {
      throw .damagedBackup(url)
    }
  }

  /// True for a relative path without a way out of the folder.
  ///
  /// Its parts are those of the file system, which separates bytes: a slash and a combining mark are one `Character`.
  private static func isPlain(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return parts.allSatisfy { part in
      !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
    }
  }

  private static func content(of archive: TarReader) throws -> Data {
    var data = Data()
    try archive.read {
      data += $0
      guard data.count <= BackupManifest.bytesMax else { throw POSIXError(.EFBIG) }
    }
    return data
  }

  /// Reads an entry and writes it to `file`, if one is given.
  private static func extract(
    _ name: String, from archive: TarReader, to file: URL?
  ) throws -> BackupManifest.Entry {
    var (hash, byteCount) = (SHA256(), 0)
    func read(_ body: (Data) throws -> Void) throws {
      try archive.read { data in
        hash.update(data: data)
        byteCount += data.count
        try body(data)
      }
    }
    if let file {
      try AtomicFile.makeFolder(file.deletingLastPathComponent())
      try AtomicFile.write(to: file, existing: .keep) { descriptor in
        try read { data in
          try data.withUnsafeBytes { try AtomicFile.append($0, to: descriptor, at: file) }
        }
      }
    } else {
      try read { _ in }
    }
    return BackupManifest.Entry(
      name: name, bytes: byteCount, sha256: BackupManifest.text(hash.finalize()))
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
