import Crypto
import Foundation
import World

/// Extracts a backup into a new folder, and checks every byte of it.
package enum BackupReader {
  /// Extracts the backup `url` into the empty folder `folder`.
  ///
  /// - Parameter server: The server that must have been backed up.
  /// - Returns: The manifest; each of its files is in `folder`, with mode 0600 and synced.
  /// - Throws: `BackupError`; then `folder` may have some of the files.
  package static func extract(
    _ url: URL, of server: String, into folder: URL
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
          entries.append(try extract(name, from: archive, into: folder))
        }
      }
    } catch let error as BackupError {
      throw error
    } catch let error as FileError {
      throw .notWritten(URL(fileURLWithPath: error.path))
    } catch {
      throw .damagedBackup(url)
    }
    guard let manifest, manifest.format == 1, manifest.files == entries else {
      throw .damagedBackup(url)
    }
    guard manifest.server == server else { throw .otherServer(url, manifest.server) }
    return manifest
  }

  /// True for a relative path without a way out of the folder.
  private static func isPlain(_ name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return !parts.isEmpty && parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
  }

  private static func content(of archive: TarReader) throws -> Data {
    var data = Data()
    try archive.read {
      data += $0
      guard data.count <= BackupManifest.bytesMax else { throw POSIXError(.EFBIG) }
    }
    return data
  }

  private static func extract(
    _ name: String, from archive: TarReader, into folder: URL
  ) throws -> BackupManifest.Entry {
    let file = folder.appendingPathComponent(name)
    try AtomicFile.makeFolder(file.deletingLastPathComponent())
    var (hash, byteCount) = (SHA256(), 0)
    try AtomicFile.write(to: file, existing: .keep) { descriptor in
      try archive.read { data in
        hash.update(data: data)
        byteCount += data.count
        try data.withUnsafeBytes { bytes in
          try AtomicFile.append(bytes, to: descriptor, at: file)
        }
      }
    }
    return BackupManifest.Entry(
      name: name, bytes: byteCount, sha256: BackupManifest.text(hash.finalize()))
  }
}
