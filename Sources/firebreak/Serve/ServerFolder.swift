import Foundation
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
    for folder in [url, verification, keys, exports] {
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
  }

  /// The existing folder at `path` with data of `server`: for commands that create nothing.
  init(existing path: String, of server: ServerName) throws {
    url = URL(fileURLWithPath: path)
    let own = server == .verification ? verification : keys
    guard Self.isFolder(url) else {
      throw CommandFailure.badInput(
        "There is no folder \(path.printable): name the folder of the servers with --data.")
    }
    guard Self.isFolder(own) else {
      throw CommandFailure.badInput(
        "There is no folder \(own.path.printable): name the folder of the servers with --data, or start"
          + " them first.")
    }
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  var verification: URL { url.appendingPathComponent("verification") }
  var keys: URL { url.appendingPathComponent("keys") }
  /// The public key files and their indexes.
  var exports: URL { url.appendingPathComponent("exports") }
  var verificationDatabase: URL { verification.appendingPathComponent("verification.sqlite") }
  var keyDatabase: URL { keys.appendingPathComponent("keys.sqlite") }
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

/// `token-keys.json`: the public keys of upload tokens, PEM by id. The key server needs nothing else of the
/// verification server.
struct TokenKeysFile {
  let url: URL

  /// Writes the public keys of `keys` that are valid at or after `now`, if the file has other content.
  ///
  /// - Throws: `CommandFailure` if the file cannot be written.
  func write(_ keys: [SecretSigningKey], at now: Date) throws {
    let valid = keys.filter { $0.validThru ?? .max > Int64(now.timeIntervalSince1970) }
    let texts = Dictionary(valid.map { ($0.keyID, $0.publicKeyPEM) }, uniquingKeysWith: { $1 })
    // The key server treats a file without a key as damaged.
    guard !texts.isEmpty, (try? decoded()) != texts else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    do {
      try AtomicFile.write(try encoder.encode(texts), to: url, permissions: 0o644)
    } catch {
      throw CommandFailure(
        status: .machineFailed, sentence: "\(url.path) could not be written: check the disk.")
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
    // Without a key the server would reject every upload.
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
