// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal

/// The rights of other users on the folders and databases of the servers.
enum FolderRights {
  /// The permissions with which a folder of the servers is created.
  static func permissions(of folder: URL, in servers: ServerFolder) -> Int {
    // Key files are public, and a web server of another user may serve them.
    [servers.url, servers.exports].contains(folder) ? 0o755 : 0o700
  }

  /// Throws if other users can change the folder, or can read or change the data of a server.
  static func refuseShared(_ folder: ServerFolder) throws {
    let databases = folder.servers.flatMap { server in
      ["", "-wal", "-shm"].map { URL(fileURLWithPath: server.database.path + $0) }
    }
    for place in ServerName.allCases.map(folder.folder) + databases {
      try refuse(place, rights: 0o077, "u=rwX,go=")
    }
    for place in [folder.url, folder.exports] { try refuse(place, rights: 0o022, "go-w") }
  }

  /// Throws if the file or folder gives one of `rights` to other users.
  private static func refuse(_ place: URL, rights: mode_t, _ change: String) throws {
    var facts = stat()
    guard stat(place.path, &facts) == 0, facts.st_mode & rights != 0 else { return }
    throw CommandFailure.badInput(
      "\(place.path.printable) can be \(rights == 0o022 ? "changed" : "read or changed") by other users:"
        + " check its content, then chmod \(change) it.")
  }
}
