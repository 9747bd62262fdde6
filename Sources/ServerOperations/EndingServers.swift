// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal
import World

/// The servers of a folder and of its realms at the end of the service, with the locks of all.
struct EndingServers {
  /// The servers that have files.
  let servers: [StoredServer]
  let realms: [Realm]
  private let locks: [ServerLocks]
  /// No realm is added or removed meanwhile; nil without realms.
  private let realmsLock: HeldFolderLock?

  /// - Throws: `CommandFailure` if a server runs, a folder is a link, a realm is changed, or one cannot be read.
  init(of folder: ServerFolder) throws {
    realmsLock = try Self.lockRealms(of: folder)
    let places = FileManager.default.names(in: folder.realmsFolder)
    try Self.refuseLinks(
      folder.servers.map { folder.folder(of: $0.name) } + [folder.realmsFolder]
        + places.map { folder.realmsFolder.appendingPathComponent($0) })
    // An interrupted deletion may have removed realms that the settings still list.
    let isBegun = FileManager.default.fileExists(atPath: folder.deletionRecord.path)
    if isBegun { Self.removeEmptyRealms(of: folder) }
    realms = try isBegun ? folder.realms(except: nil) : folder.realms
    for own in realms.map(\.folder) {
      try Self.refuseLinks(own.servers.map { own.folder(of: $0.name) })
    }
    var (servers, locks): ([StoredServer], [ServerLocks]) = ([], [])
    for own in [folder] + realms.map(\.folder) {
      let stored = own.servers.filter(\.hasFiles)
      locks.append(try ServerLocks(own, stored.map(\.name)))
      servers += stored
    }
    (self.servers, self.locks) = (servers, locks)
  }

  private static func lockRealms(of folder: ServerFolder) throws -> HeldFolderLock? {
    guard FileManager.default.isFolder(at: folder.realmsFolder.path) else { return nil }
    guard let lock = try FolderLock.hold(on: folder.realmsFolder) else {
      throw CommandFailure.badInput(
        "Another command adds or removes a realm of \(folder.url.path.printable): run this one again."
      )
    }
    return lock
  }

  /// Throws if one of `folders` is a link: only the link would be deleted, and the certificate would lack its files.
  private static func refuseLinks(_ folders: [URL]) throws {
    for folder in folders {
      let attributes = FileManager.default.attributes(of: folder)
      guard attributes?[.type] as? FileAttributeType == .typeSymbolicLink else { continue }
      throw CommandFailure.badInput(
        "\(folder.path.printable) is a link, and the files behind it would not be deleted: move its folder into this"
          + " place, and run the command again.")
    }
  }

  /// Removes the folders without files that an interrupted deletion has left, which have no `realm.json` any more.
  private static func removeEmptyRealms(of folder: ServerFolder) {
    for name in FileManager.default.names(in: folder.realmsFolder) where Realm.isName(name) {
      let own = folder.folder(ofRealm: name).url
      // A folder that cannot be read is the error of the list of realms.
      guard let paths = try? FileManager.default.subpathsOfDirectory(atPath: own.path),
        paths.allSatisfy({
          FileManager.default.isFolder(at: own.appendingPathComponent($0).path)
        })
      else { continue }
      FileManager.default.removeUnneeded(own)
    }
  }
}

extension StoredServer {
  /// The name of the server, such as `keys`, or `north/console` for that of a realm.
  var recordedName: String {
    ([folder.realm].compactMap(\.self) + [name.rawValue]).joined(separator: "/")
  }
}
