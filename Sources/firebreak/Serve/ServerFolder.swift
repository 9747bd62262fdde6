// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Terminal
import World

/// The folder with all data of the health authority's servers: `--data DIR`.
///
/// Each server has its own folder in it, so that they can run on two machines. The key server then needs a copy
/// of `token-keys.json`.
struct ServerFolder {
  let url: URL

  /// The folder at `path`; nothing is created or checked.
  init(at path: String) {
    url = URL(fileURLWithPath: path)
  }

  /// The folder at `path`, which is created if it is missing.
  init(path: String) throws {
    self.init(at: path)
    try create()
  }

  /// The existing folder at `path` with data of `server`: for commands that create no server.
  ///
  /// - Parameter mayBeUnused: True if the server's own folder may be empty, before settings are written.
  init(existing path: String, of server: ServerName, mayBeUnused: Bool = false) throws {
    self.init(at: path)
    try refuseFile()
    guard exists, hasFiles(of: server) || mayBeUnused && Self.isFolder(folder(of: server)) else {
      throw noData(path, of: "data of the \(server.title)")
    }
    try refuseUnfinished()
    try refuseShared()
  }

  /// The existing folder at `path` with data of at least one server.
  init(existing path: String) throws {
    self.init(at: path)
    try refuseFile()
    guard exists, ServerName.allCases.contains(where: hasFiles) else {
      throw noData(path, of: "data of a server")
    }
    try refuseUnfinished()
    try refuseShared()
  }

  private func noData(_ path: String, of content: String) -> CommandFailure {
    let fault =
      exists
      ? "The folder \(path.printable) has no \(content)"
      : "There is no folder \(path.printable)"
    return .badInput(
      "\(fault): name the folder of the servers with --data, or create it with"
        + " `firebreak serve --data \(path.printable)`.")
  }

  /// The servers, with their places in this folder.
  var servers: [StoredServer] { ServerName.allCases.map { StoredServer(name: $0, folder: self) } }

  // MARK: A restoration

  /// The beginning of the name of the folder from which the files of a backup are moved to their places.
  private static let restorationPrefix = ".restore-"

  /// A new folder to which a backup is extracted, on the same file system, so that its files can be moved.
  func newExtractionFolder() -> URL {
    url.appendingPathComponent(".extract-" + UUID().uuidString)
  }

  /// The name of `extracted` while its files are moved. Until it is removed, no command uses this folder.
  func restorationFolder(of extracted: URL) -> URL {
    url.appendingPathComponent(Self.restorationPrefix + extracted.lastPathComponent)
  }

  /// Throws if a restoration into the folder was killed: some of its servers may be missing, and a start would create
  /// new ones.
  private func refuseUnfinished() throws {
    let names = FileManager.default.names(in: url)
    guard let left = names.first(where: { $0.hasPrefix(Self.restorationPrefix) }) else { return }
    throw CommandFailure.badInput(
      "A restoration into \(url.path.printable) was interrupted and has left \(left.printable): move the"
        + " folder away, and restore the backup again.")
  }

  // MARK: Checks

  var exists: Bool { Self.isFolder(url) }

  /// Creates the folders that are missing.
  ///
  /// - Returns: The created folders, the outer ones first.
  /// - Throws: `CommandFailure` if one cannot be created, or other users can change it.
  @discardableResult
  func create() throws -> [URL] {
    try refuseFile()
    try refuseUnfinished()
    var created = missingParents
    for folder in [url, verification, keys, console, exports] {
      // Key files are public, and a web server of another user may serve them.
      let rights = [url, exports].contains(folder) ? 0o755 : 0o700
      let isNew = !FileManager.default.fileExists(atPath: folder.path)
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: rights])
      } catch {
        throw CommandFailure.badInput(
          "The folder \(folder.path.printable) cannot be created: name another with --data, or check"
            + " its permissions.")
      }
      if isNew { created.append(folder) }
    }
    try refuseShared()
    return created
  }

  /// Throws if there is a file at the path.
  private func refuseFile() throws {
    guard !exists, FileManager.default.fileExists(atPath: url.path) else { return }
    throw CommandFailure.badInput(
      "\(url.path.printable) is a file: name the folder of the servers with --data.")
  }

  /// The folders above `url` that do not exist, the outer ones first.
  private var missingParents: [URL] {
    var missing: [URL] = []
    var parent = url.deletingLastPathComponent()
    while parent.path != "/", !FileManager.default.fileExists(atPath: parent.path) {
      missing.insert(parent, at: 0)
      parent = parent.deletingLastPathComponent()
    }
    return missing
  }

  /// True if the folder has a file of `server`: its secrets or database, or what the operator prepares before its first
  /// start.
  private func hasFiles(of server: ServerName) -> Bool {
    let files: [URL] =
      switch server {
      case .verification:
        [verificationSecrets.url, verificationDatabase, verificationSettings.url]
      case .keys: [keySecrets.url, keyDatabase, keySettings.url, rootPrivateKey.url]
      case .console: [consoleSecrets.url, consoleDatabase, consoleSettings.url]
      }
    return files.contains { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// Throws if other users can change the folder, or can read or change the data of a server.
  private func refuseShared() throws {
    let databases = [verificationDatabase, keyDatabase, consoleDatabase].flatMap { file in
      ["", "-wal", "-shm"].map { URL(fileURLWithPath: file.path + $0) }
    }
    for place in [verification, keys, console] + databases {
      try refuse(place, rights: 0o077, "u=rwX,go=")
    }
    for place in [url, exports] { try refuse(place, rights: 0o022, "go-w") }
  }

  /// Throws if the file or folder gives one of `rights` to other users.
  private func refuse(_ place: URL, rights: mode_t, _ change: String) throws {
    var facts = stat()
    guard stat(place.path, &facts) == 0, facts.st_mode & rights != 0 else { return }
    throw CommandFailure.badInput(
      "\(place.path.printable) can be \(rights == 0o022 ? "changed" : "read or changed") by other users:"
        + " check its content, then chmod \(change) it.")
  }

  /// Throws if there are key files and no database: with a new one the server would forget used tokens, and
  /// remove the files.
  func refuseLostKeyDatabase() throws {
    guard !FileManager.default.fileExists(atPath: keyDatabase.path) else { return }
    let index = exports.appendingPathComponent("index.txt")
    guard let listed = FileManager.default.contents(atPath: index.path), !listed.isEmpty else {
      return
    }
    throw CommandFailure.badInput(
      "\(keyDatabase.path.printable) is missing, and \(exports.path.printable) has its key files: restore a"
        + " backup, or move the key files away to start without them.")
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// The folder of one server.
  func folder(of server: ServerName) -> URL {
    switch server {
    case .verification: verification
    case .keys: keys
    case .console: console
    }
  }

  var verification: URL { url.appendingPathComponent("verification") }
  var keys: URL { url.appendingPathComponent("keys") }
  var console: URL { url.appendingPathComponent("console") }
  /// The public key files and their indexes.
  var exports: URL { url.appendingPathComponent("exports") }
  var verificationDatabase: URL { verification.appendingPathComponent("verification.sqlite") }
  var keyDatabase: URL { keys.appendingPathComponent("keys.sqlite") }
  var consoleDatabase: URL { console.appendingPathComponent("console.sqlite") }
  var consoleSecrets: PrivateFile { PrivateFile(console.appendingPathComponent("secrets.json")) }
  var consoleSettings: SettingsFile {
    SettingsFile(url: console.appendingPathComponent("settings.json"))
  }
  var verificationSecrets: PrivateFile {
    PrivateFile(verification.appendingPathComponent("secrets.json"))
  }
  var keySecrets: PrivateFile { PrivateFile(keys.appendingPathComponent("secrets.json")) }
  var verificationSettings: SettingsFile {
    SettingsFile(url: verification.appendingPathComponent("settings.json"))
  }
  /// The private root key, until the operator moves it to a safer place.
  var rootPrivateKey: PrivateFile { PrivateFile(keys.appendingPathComponent("root-key.pem")) }
  /// The public root key, which phones are configured with.
  var rootPublicKey: URL { url.appendingPathComponent("root-public-key.pem") }
  /// The signed document with the keys that phones trust.
  var deviceConfiguration: URL { keys.appendingPathComponent("device-configuration.json") }
  var keySettings: SettingsFile { SettingsFile(url: keys.appendingPathComponent("settings.json")) }
  var tokenPublicKeys: TokenKeysFile {
    TokenKeysFile(url: url.appendingPathComponent("token-keys.json"))
  }
}

/// `token-keys.json`: the public keys of upload tokens, PEM by id. The key server needs no other file of the
/// verification server.
struct TokenKeysFile {
  let url: URL

  /// Writes the public keys of `keys` that are valid at or after `now`, if the file has other content.
  ///
  /// - Throws: `CommandFailure` if the file cannot be written.
  func write(_ keys: [SecretSigningKey], at now: Date) throws {
    let valid = keys.filter { $0.validThru ?? .max > now.unixSecond }
    let texts = Dictionary(valid.map { ($0.keyID, $0.publicKeyPEM) }, uniquingKeysWith: { $1 })
    // The key server treats a file without a key as damaged. A file that cannot be read is replaced.
    guard !texts.isEmpty, (try? decoded()) != texts else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    do {
      try AtomicFile.write(try encoder.encode(texts), to: url, permissions: 0o644)
    } catch {
      throw CommandFailure(
        status: .machineFailed, message: "\(url.path) could not be written: check the disk.")
    }
  }

  /// The keys in PEM, by id.
  ///
  /// - Throws: `CommandFailure` if there are none.
  func read() throws -> [String: String] {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure.badInput(
        "\(url.path) is missing: start the verification server first, or copy the file from its"
          + " folder.")
    }
    // Without a key the server would reject every upload. Damaged text has none.
    guard let keys = try? decoded(), !keys.isEmpty else {
      throw CommandFailure.badInput(
        "\(url.path) contains no public keys: copy it again from the verification server's"
          + " folder.")
    }
    for (id, pem) in keys.sorted(by: { $0.key < $1.key }) {
      // Text that is not a key is the fault that is reported.
      guard (try? P256.Signing.PublicKey(pemRepresentation: pem)) == nil else { continue }
      throw CommandFailure.badInput(
        "\(url.path.printable): the key \(id.printable) is not a P-256 public key: copy the file again from"
          + " the verification server's folder.")
    }
    return keys
  }

  private func decoded() throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(contentsOf: url))
  }
}
