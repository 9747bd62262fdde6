// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal
import World

/// The folder with all data of the health authority's servers: `--data DIR`.
///
/// Each server has its own folder in it, so that they can run on two machines. The key server then needs a copy
/// of `token-keys.json`.
package struct ServerFolder: Sendable {
  package let url: URL
  /// The settings from outside the folder; nil for none.
  package var shared: SharedSettings?
  /// The name of the realm whose folder this is; nil for that of an installation.
  package let realm: String?

  /// The folder at `path`; nothing is created or checked.
  package init(at path: String) {
    self.init(at: path, realm: nil)
  }

  /// The folder of `realm` at `path`.
  init(at path: String, realm: String?) {
    url = URL(fileURLWithPath: path)
    self.realm = realm
  }

  /// The folder at `path`, which is created if it is missing.
  package init(path: String) throws {
    self.init(at: path)
    try create()
  }

  /// The existing folder at `path` with data of `server`: for operations that create no server.
  ///
  /// - Parameter mayBeUnused: True if the server's own folder may be empty, before settings are written.
  package init(existing path: String, of server: ServerName, mayBeUnused: Bool = false) throws {
    try self.init(existing: path, content: "data of the \(server.title)") { folder in
      folder.server(server).hasFiles
        || mayBeUnused && FileManager.default.isFolder(at: folder.folder(of: server).path)
    }
  }

  /// The existing folder at `path` with data of at least one server.
  package init(existing path: String) throws {
    try self.init(existing: path, content: "data of a server") {
      $0.servers.contains(where: \.hasFiles)
    }
  }

  /// The existing folder at `path`, in which the deletion of the service has begun or may begin.
  package init(ending path: String) throws {
    try self.init(existing: path, content: "data of the \(ServerName.keys.title)") { folder in
      folder.isEnded || FileManager.default.isFolder(at: folder.keys.path)
    }
  }

  private init(
    existing path: String, content: String, where hasContent: (ServerFolder) -> Bool
  ) throws {
    self.init(at: path)
    try refuseFile()
    guard exists, hasContent(self) else {
      // Its advice to run `serve` would be wrong.
      try refuseEnded()
      throw Self.failure(path, exists: exists, content)
    }
    try RestorationFolder.refuseUnfinished(in: url)
    try FolderRights.refuseShared(self)
  }

  private static func failure(_ path: String, exists: Bool, _ content: String) -> CommandFailure {
    let fault =
      exists
      ? "The folder \(path.printable) has no \(content)"
      : "There is no folder \(path.printable)"
    return .badInput(
      "\(fault): name the folder of the servers with --data, or create it with"
        + " `firebreak serve --data \(path.printable)`.")
  }

  package var exists: Bool { FileManager.default.isFolder(at: url.path) }

  /// Creates the folders that are missing.
  ///
  /// - Returns: The created folders, the outer ones first.
  /// - Throws: `CommandFailure` if one cannot be created, or other users can change it.
  @discardableResult
  package func create() throws -> [URL] {
    try refuseFile()
    try RestorationFolder.refuseUnfinished(in: url)
    var created = Array(
      FileManager.default.missingFolders(of: url.deletingLastPathComponent()).reversed())
    for folder in [url] + ownFolders {
      let isNew = !FileManager.default.fileExists(atPath: folder.path)
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true,
          attributes: [.posixPermissions: FolderRights.permissions(of: folder, in: self)])
      } catch {
        throw CommandFailure.badInput(
          "The folder \(folder.path.printable) cannot be created: name another with --data, or check"
            + " its permissions.")
      }
      if isNew { created.append(folder) }
    }
    try FolderRights.refuseShared(self)
    return created
  }

  /// Creates the folders that are missing, for an operation that may precede the first start of the servers.
  ///
  /// - Throws: `CommandFailure` if the service of the folder was ended, or if it has other content and no data of a
  ///   server, so that a mistyped path is noticed.
  func prepare() throws {
    try refuseEnded()
    guard !exists || isUnused || servers.contains(where: \.hasFiles) else {
      throw Self.failure(url.path, exists: true, "data of a server")
    }
    try create()
  }

  /// True if the folder has nothing but empty folders of servers.
  private var isUnused: Bool {
    let own = ownFolders.map(\.lastPathComponent)
    let names = FileManager.default.names(in: url)
    return Set(names).isSubset(of: own)
      && names.allSatisfy {
        let folder = url.appendingPathComponent($0)
        return FileManager.default.isFolder(at: folder.path)
          && FileManager.default.names(in: folder).isEmpty
      }
  }

  /// Throws if a restoration into this folder is in progress or was interrupted.
  ///
  /// A server calls it with the locks of its folders, which a restoration does not find empty from then on.
  package func refuseRestoration() throws { try RestorationFolder.refuseUnfinished(in: url) }

  /// Throws if the service of this folder was ended, because a server would start with new secrets.
  package func refuseEnded() throws {
    guard isEnded else { return }
    throw CommandFailure.badInput(
      "The service in \(url.path.printable) was ended with `firebreak end-of-service delete`: name another"
        + " folder with --data.")
  }

  private var isEnded: Bool { FileManager.default.fileExists(atPath: deletionRecord.path) }

  /// The folders of the servers, and that of the key files.
  private var ownFolders: [URL] {
    realm == nil ? [verification, keys, console, exports] : [verification, console]
  }

  /// Throws if there is a file at the path, or the folder of a realm.
  private func refuseFile() throws {
    try refuseRealm()
    guard !exists, FileManager.default.fileExists(atPath: url.path) else { return }
    throw CommandFailure.badInput(
      "\(url.path.printable) is a file: name the folder of the servers with --data.")
  }
}

// MARK: - The servers' own folders

extension ServerFolder {
  /// The servers, with their places in this folder. A realm has no key server of its own.
  var servers: [StoredServer] {
    ServerName.allCases.filter { realm == nil || $0 != .keys }.map(server)
  }

  /// One server, with its places in this folder.
  func server(_ name: ServerName) -> StoredServer { StoredServer(name: name, folder: self) }

  /// The folder of one server.
  package func folder(of server: ServerName) -> URL {
    url.appendingPathComponent(server.rawValue)
  }

  var verification: URL { folder(of: .verification) }
  var keys: URL { folder(of: .keys) }
  var console: URL { folder(of: .console) }
  /// The public key files and their indexes.
  var exports: URL { url.appendingPathComponent("exports") }
  /// The record of the deletion of the service.
  var deletionRecord: URL { url.appendingPathComponent("end-of-service.jsonl") }
  var verificationDatabase: URL { server(.verification).database }
  package var keyDatabase: URL { server(.keys).database }
  package var consoleDatabase: URL { server(.console).database }
  var verificationSettings: SettingsFile { server(.verification).settings }
  var keySettings: SettingsFile { server(.keys).settings }
  var consoleSettings: SettingsFile { server(.console).settings }

  /// The private root key, until the operator moves it to a safer place.
  var rootPrivateKey: PrivateFile { PrivateFile(keys.appendingPathComponent("root-key.pem")) }
  /// The public root key, which phones are configured with.
  package var rootPublicKey: URL { url.appendingPathComponent("root-public-key.pem") }
  /// The credentials of the object store of the key files, if they are not in the environment.
  var fileCredentials: URL { keys.appendingPathComponent("files-credentials.json") }
  /// The paths of the folders that restorations have moved away begin with it.
  var replacedPrefix: String {
    url.resolvingSymlinksInPath().standardizedFileURL.path + ".replaced-"
  }
  /// The folders of the servers that restorations have moved away, and that are still there.
  var replaced: [URL] {
    let prefix = URL(fileURLWithPath: replacedPrefix)
    let parent = prefix.deletingLastPathComponent()
    return FileManager.default.names(in: parent).sorted()
      .filter { $0.hasPrefix(prefix.lastPathComponent) }.map { parent.appendingPathComponent($0) }
  }
  /// The signed document with the keys that phones trust.
  var deviceConfiguration: URL { keys.appendingPathComponent("device-configuration.json") }
}
