// SPDX-License-Identifier: Apache-2.0
import CLibArchive
import Crypto
import Foundation
import GRDB
import TextEncodings
import World

/// Writes a backup: a tar archive with the databases of servers, their other files, and a manifest with the hash of
/// each of them as the last entry.
package enum BackupWriter {
  /// Copies the databases of `servers` and `files` to the new file `url` with mode 0600, while the servers may be
  /// running. The databases are copied as of one moment.
  ///
  /// - Parameters:
  ///   - folder: The folder of the servers, for the error if it has no database.
  ///   - files: The other files; those that do not exist are left out.
  /// - Throws: `BackupError`; then there is no file at `url`, or the one that was there before.
  package static func write(
    _ servers: [BackupServer], of folder: URL, files: [BackupFile], to url: URL, at now: Date
  ) throws(BackupError) {
    guard !servers.isEmpty else { throw .noDatabase(folder) }
    guard !FileManager.default.fileExists(atPath: url.path) else { throw .exists(url) }
    let copies = DatabaseCopies(of: servers, beside: url)
    defer { copies.remove() }
    try copies.write()
    do {
      try AtomicFile.write(to: url, existing: .keep) { descriptor in
        try archive(copies.files + files, servers: servers.map(\.name), at: now, to: descriptor)
      }
    } catch let error as BackupError {
      throw error
    } catch let error as FileError where error.code == EEXIST {
      throw .exists(url)
    } catch {
      throw .notWritten(url)
    }
  }

  private static func archive(
    _ files: [BackupFile], servers: [String], at now: Date, to descriptor: Int32
  ) throws {
    let archive = try TarWriter(to: descriptor)
    let entries = try files.compactMap { try add($0, to: archive) }
    let manifest = BackupManifest(servers: servers, createdAt: now.unixSecond, files: entries)
    let data = try JSONEncoder().encode(manifest)
    try archive.begin(BackupManifest.fileName, byteCount: data.count)
    try archive.append(data)
    try archive.close()
  }

  /// Adds a file; returns nil if it does not exist.
  private static func add(
    _ file: BackupFile, to archive: TarWriter
  ) throws -> BackupManifest.Entry? {
    let descriptor = open(file.url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw BackupError.unreadable(file.url) }
      return nil
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw BackupError.unreadable(file.url)
    }
    try archive.begin(file.name, byteCount: Int(facts.st_size))
    var (hash, byteCount) = (SHA256(), 0)
    while let chunk = try handle.read(upToCount: FileChunks.bytesMax), !chunk.isEmpty {
      hash.update(data: chunk)
      byteCount += chunk.count
      try archive.append(chunk)
    }
    guard byteCount == Int(facts.st_size) else { throw BackupError.unreadable(file.url) }
    return BackupManifest.Entry(
      name: file.name, bytes: byteCount, sha256: BackupManifest.text(hash.finalize()))
  }
}

/// A server whose database is copied.
package struct BackupServer: Sendable {
  /// The name in the manifest.
  package let name: String
  /// The file of the database. With PostgreSQL there is none, and the copy gets its name.
  package let database: BackupFile
  package let schema: DatabaseSchema
  /// The database in PostgreSQL; nil for the file.
  package let cluster: Cluster?

  /// - Parameter cluster: The database in PostgreSQL; nil for the file.
  package init(
    name: String, database: BackupFile, schema: DatabaseSchema, cluster: Cluster? = nil
  ) {
    self.name = name
    self.database = database
    self.schema = schema
    self.cluster = cluster
  }

  /// A database in PostgreSQL, whose rows a backup has in the form of a file: it can be restored to either.
  package struct Cluster: Sendable {
    package let database: PostgreSQLServerDatabase
    let copy: DatabaseMove

    /// - Parameters:
    ///   - database: The database, which is ready.
    ///   - copy: The copy of its rows to a file.
    package init(_ database: PostgreSQLServerDatabase, copy: DatabaseMove) {
      self.database = database
      self.copy = copy
    }
  }
}

/// A file of a server, with its path inside the backup.
package struct BackupFile: Hashable, Sendable {
  /// The path in the archive, relative to the folder of the servers.
  package let name: String
  package let url: URL

  package init(name: String, url: URL) {
    self.name = name
    self.url = url
  }
}

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
