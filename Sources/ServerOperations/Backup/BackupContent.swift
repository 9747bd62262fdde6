// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Settings
import Terminal
import World

/// The content of a backup that was read and whose every byte was checked.
package struct BackupContent {
  let manifest: BackupManifest
  /// The servers, in the folder to which they were extracted.
  let stored: [StoredServer]

  /// Checks every byte of `backup`, and extracts the wanted files into the folder `url`, which is created.
  ///
  /// - Parameters:
  ///   - backup: The file.
  ///   - url: The new folder.
  ///   - realm: The realm whose backup it must be; nil for that of a folder's own authority, or for any.
  ///   - isWanted: Returns true for the names of the files to extract.
  init(
    of backup: URL, extractedTo url: URL, realm: String? = nil,
    where isWanted: (String) -> Bool = { _ in true }
  ) throws {
    manifest = try BackupReader.extract(backup, into: url, where: isWanted)
    let folder = ServerFolder(at: url.path, realm: realm)
    stored = try manifest.servers.map { text in
      guard let name = ServerName(rawValue: text) else { throw BackupError.damagedBackup(backup) }
      return folder.server(name)
    }
  }

  /// Checks every byte of `backup` and the structure of its databases, in a folder that is removed at the end.
  package init(verifying backup: URL) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("firebreak-backup-\(UUID().uuidString)")
    defer { FileManager.default.removeUnneeded(folder) }
    self = try CommandFailure.ofBackup {
      let content = try BackupContent(of: backup, extractedTo: folder) {
        $0.hasSuffix(".sqlite")
      }
      for server in content.stored {
        try BackupReader.check(server.database, schema: server.schema, of: backup)
      }
      return content
    }
  }

  /// Throws if the backup is not that of `realm`, or of a folder's own authority if that is nil.
  func require(_ realm: String?, in backup: URL) throws {
    guard let folder = stored.first?.folder else { return }
    guard files.contains(folder.realmFile.lastPathComponent) else {
      guard let realm else { return }
      throw CommandFailure.badInput(
        "\(backup.path.printable) is not a backup of the realm \(realm): name that of the realm.")
    }
    guard let realm else {
      throw CommandFailure.badInput(
        "\(backup.path.printable) is a backup of a realm: name the realm with --realm.")
    }
    // Another realm and a damaged file are the same here: every byte is that of the backup.
    guard (try? Realm(realm, in: folder)) != nil else {
      throw CommandFailure.badInput(
        "\(backup.path.printable) is not a backup of the realm \(realm): name that of the realm.")
    }
  }

  /// The servers of the backup.
  package var servers: [ServerName] { stored.map(\.name) }

  /// The time of the backup.
  package var createdAt: Date { Date(unixSecond: manifest.createdAt) }

  /// The names of the files, relative to the folder of the servers.
  package var files: [String] { manifest.files.map(\.name) }
}
