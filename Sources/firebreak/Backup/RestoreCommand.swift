// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import World

/// `firebreak restore FILE`: creates the servers of a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore all servers of a backup, whole or not at all.",
    discussion: """
      Every byte of the backup is checked first. The folders of its servers in DIR must be empty or missing: move a \
      damaged DIR away. Uploads, codes and used tokens since the backup are lost.
      """)

  @OptionGroup var backup: BackupArgument
  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    try backup.refuseOtherThanFile()
    let folder = ServerFolder(at: options.data)
    let created = try folder.create()
    let content: BackupContent
    do {
      content = try BackupFailure.reporting { try restore(in: folder) }
    } catch {
      // A folder that is not empty is not removed.
      for folder in created.reversed() { rmdir(folder.path) }
      throw error
    }
    try json
      ? printJSON(content.report)
      : StandardOutput.write("Restored \(folder.url.path.printable) from \(content.sentence).")
  }

  private func restore(in folder: ServerFolder) throws -> BackupContent {
    let extracted = folder.newExtractionFolder()
    defer { FileManager.default.removeUnneeded(extracted) }
    let content = try BackupContent(of: backup.url, extractedTo: extracted)
    for server in content.servers.map({ folder.folder(of: $0.name) })
    where try !FileManager.default.contentsOfDirectory(atPath: server.path).isEmpty {
      throw CommandFailure.badInput(
        "\(server.path.printable) has data of a server: move it away first.")
    }
    for server in content.servers {
      // Or the server would take the time since the backup for a jump of the clock.
      do throws(ServerDatabaseError) {
        try ServerState.confirm(SystemClock().now, in: server.database, schema: server.schema)
      } catch {
        throw CommandFailure(error, of: server.schema)
      }
    }
    let staging = folder.restorationFolder(of: extracted)
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
    let own = content.servers.map(\.name.rawValue)
    do {
      for name in content.manifest.files.map(\.name)
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
      throw CommandFailure.badInput(
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
