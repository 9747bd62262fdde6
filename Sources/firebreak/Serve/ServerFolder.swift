// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import World

/// The folder with all data of the health authority's servers: `--data DIR`.
///
/// Each server has its own folder in it, so that they can run on two machines. The key server then needs a copy
/// of `token-keys.json`.
struct ServerFolder {
  let url: URL

  /// The folder at `path`, which is created if it is missing.
  init(path: String) throws {
    url = URL(fileURLWithPath: path)
    for folder in [url, verification, keys, console, exports] {
      // Key files are public, and a web server of another user may serve them.
      let rights = [url, exports].contains(folder) ? 0o755 : 0o700
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: rights])
      } catch {
        throw CommandFailure.badInput(
          "The folder \(folder.path) cannot be created: name another with --data, or check its"
            + " permissions."
        )
      }
    }
    try refuseShared()
  }

  /// The existing folder at `path` with data of `server`: for commands that create nothing.
  init(existing path: String, of server: ServerName) throws {
    url = URL(fileURLWithPath: path)
    let own = folder(of: server)
    guard Self.isFolder(url) else {
      throw CommandFailure.badInput(
        "There is no folder \(path.printable): name the folder of the servers with --data.")
    }
    guard Self.isFolder(own) else {
      throw CommandFailure.badInput(
        "There is no folder \(own.path.printable): name the folder of the servers with --data, or start"
          + " them first.")
    }
    try refuseShared()
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
    return keys
  }

  private func decoded() throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(contentsOf: url))
  }
}
