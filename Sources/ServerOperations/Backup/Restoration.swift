// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Settings
import Terminal
import World

/// The restoration of all servers of a backup into one folder: no server starts on a part of it.
package struct Restoration {
  let folder: ServerFolder
  let clock: any WallClock

  /// - Parameter folder: The folder of the servers, which is created if it is missing.
  package init(into folder: ServerFolder, clock: any WallClock = SystemClock()) {
    self.folder = folder
    self.clock = clock
  }

  /// Restores the backup.
  ///
  /// After an error no file of the backup is in its place, except one that could not be moved back: the next attempt
  /// then asks to move the folder away. Empty folders may remain.
  package func restore(_ backup: URL) throws -> BackupContent {
    let created = try folder.create()
    do {
      return try OperationFailure.ofBackup { try place(backup) }
    } catch {
      // A folder that is not empty is not removed.
      for folder in created.reversed() { rmdir(folder.path) }
      throw error
    }
  }

  private func place(_ backup: URL) throws -> BackupContent {
    let extracted = RestorationFolder.newExtraction(in: folder.url)
    defer { FileManager.default.removeUnneeded(extracted) }
    let content = try BackupContent(of: backup, extractedTo: extracted)
    for server in content.servers.map(folder.folder)
    where try !FileManager.default.contentsOfDirectory(atPath: server.path).isEmpty {
      throw OperationFailure.badInput(
        "\(server.path.printable) has data of a server: move it away first.")
    }
    // Or the servers would take the time since the backup for a jump of the clock.
    for server in content.stored { try server.confirm(clock.now) }
    let staging = RestorationFolder.url(of: extracted)
    guard rename(extracted.path, staging.path) == 0 else { throw FileError(.rename, staging) }
    defer { FileManager.default.removeUnneeded(staging) }
    var placement = Placement(from: staging, in: folder)
    try placement.place(content)
    return content
  }
}

/// Moves extracted files to their places. If one cannot be moved, the others are moved back.
private struct Placement {
  private let staging: URL
  private let folder: ServerFolder
  /// The moves so far.
  private var done: [(from: URL, to: URL)] = []

  init(from staging: URL, in folder: ServerFolder) {
    (self.staging, self.folder) = (staging, folder)
  }

  /// The folders of the servers come last.
  mutating func place(_ content: BackupContent) throws {
    let own = content.servers.map(\.rawValue)
    do {
      for name in content.files
      where !own.contains(where: { name.hasPrefix($0 + "/") }) {
        try placeShared(name)
      }
      for name in own { try move(name) }
      try AtomicFile.sync(folder.url)
    } catch {
      // If a move back fails, the file stays in the folder, and the next attempt asks to move the folder away.
      for move in done.reversed() { rename(move.to.path, move.from.path) }
      throw error
    }
  }

  /// Places a file that the servers share, such as the public root key.
  private mutating func placeShared(_ name: String) throws {
    let target = folder.url.appendingPathComponent(name)
    guard let present = FileManager.default.contents(atPath: target.path) else {
      if [folder.rootPublicKey, folder.tokenPublicKeys.url].contains(target) {
        let file = staging.appendingPathComponent(name)
        guard chmod(file.path, 0o644) == 0 else { throw FileError(.setPermissions, file) }
      }
      try AtomicFile.makeFolder(target.deletingLastPathComponent())
      return try move(name)
    }
    let data = try Data(contentsOf: staging.appendingPathComponent(name))
    // The token keys may be newer than the backup. Another root key means that the folder serves other phones.
    guard present == data || target == folder.tokenPublicKeys.url else {
      throw OperationFailure.badInput(
        "\(target.path.printable) differs from that of the backup: move it away first.")
    }
  }

  private mutating func move(_ name: String) throws {
    let from = staging.appendingPathComponent(name)
    let target = folder.url.appendingPathComponent(name)
    guard rename(from.path, target.path) == 0 else { throw FileError(.rename, target) }
    done.append((from, target))
  }
}
