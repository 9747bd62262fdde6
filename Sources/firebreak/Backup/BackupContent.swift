// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import ServerStorage
import Terminal
import World

/// An extracted backup.
struct BackupContent {
  struct Report: Encodable {
    let servers: [String]
    /// The time of the backup in Unix seconds.
    let createdAt: Int64
    let files: [String]
  }

  let manifest: BackupManifest
  /// The servers, in the folder to which they were extracted.
  let servers: [StoredServer]

  /// Checks every byte of `backup`, and extracts the wanted files into the folder `url`, which is created.
  init(
    of backup: URL, extractedTo url: URL, where isWanted: (String) -> Bool = { _ in true }
  ) throws {
    manifest = try BackupReader.extract(backup, into: url, where: isWanted)
    let folder = ServerFolder(at: url.path)
    servers = try manifest.servers.map { text in
      guard let name = ServerName(rawValue: text) else { throw BackupError.damagedBackup(backup) }
      return StoredServer(name: name, folder: folder)
    }
  }

  var report: Report {
    Report(
      servers: manifest.servers, createdAt: manifest.createdAt, files: manifest.files.map(\.name))
  }

  /// The time and the servers of the backup, for messages.
  var sentence: String {
    "a backup of \(UTCTime(unixSecond: manifest.createdAt).text): \(servers.map(\.name).titles)"
  }
}

/// The argument of the commands that read a backup.
struct BackupArgument: ParsableArguments {
  @Argument(help: "A file that `backup` wrote.")
  var file: String

  var url: URL { URL(fileURLWithPath: file) }

  func refuseOtherThanFile() throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder),
      !isFolder.boolValue
    else {
      throw CommandFailure.badInput(
        isFolder.boolValue
          ? "\(file.printable) is a folder: name a file that `backup` wrote."
          : "There is no file \(file.printable): name a backup.")
    }
  }
}
