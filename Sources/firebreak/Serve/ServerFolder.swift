// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import Secrets
import Terminal
import UploadToken
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

/// The secrets of the verification server: `verification/secrets.json`.
struct VerificationSecrets: Codable, Redacted {
  /// The key for the hashes of stored codes, 32 bytes.
  let codeHashKey: Data
  /// The accepted values of the `api-token` header in the ProteGO Safe contract.
  var apiTokens: [String]
  /// The keys that sign tokens and certificates.
  var signingKeys: [SecretSigningKey]

  init(randomness: any Randomness) {
    codeHashKey = Data(randomness.bytes(32))
    apiTokens = [Data(randomness.bytes(24)).base64EncodedString()]
    signingKeys = [SecretSigningKey(keyID: "t1", keyVersion: nil, validFrom: nil)]
  }

  /// The secrets of a server; `nil` before its first start.
  ///
  /// - Throws: `CommandFailure` if they are damaged, or lost while the database is there.
  static func stored(in folder: ServerFolder) throws -> VerificationSecrets? {
    try folder.verificationSecrets.read(Self.self, neededBy: folder.verificationDatabase)
  }

  /// The secrets of a server, which are created for its first start.
  static func storedOrNew(in folder: ServerFolder) throws -> VerificationSecrets {
    try stored(in: folder)
      ?? folder.verificationSecrets.create(VerificationSecrets(randomness: SystemRandomness()))
  }

  /// - Throws: If a key is not valid PEM, or two keys have the same id.
  var tokenKeys: SigningKeys {
    get throws { try SigningKeys(signingKeys.map { try $0.tokenKey }) }
  }
}

/// The secrets of the key server: `keys/secrets.json`.
struct KeySecrets: Codable, Redacted {
  /// The key for everything that the database stores encrypted or hashed, 32 bytes.
  let databaseKey: Data
  /// The keys that sign key files.
  var signingKeys: [SecretSigningKey]

  /// New secrets with the first version of the key `keyID`.
  init(keyID: String, randomness: any Randomness = SystemRandomness()) {
    databaseKey = Data(randomness.bytes(KeyServerLimit.databaseKeyBytes))
    signingKeys = [SecretSigningKey(keyID: keyID, keyVersion: "v1", validFrom: nil)]
  }

  /// The secrets of a server; `nil` before its first start.
  ///
  /// - Throws: `CommandFailure` if they are damaged, or lost while the database is there.
  static func stored(in folder: ServerFolder) throws -> KeySecrets? {
    try folder.keySecrets.read(Self.self, neededBy: folder.keyDatabase)
  }
}

/// A signing key in a file of secrets.
struct SecretSigningKey: Codable, Redacted {
  /// The id in tokens and key files.
  let keyID: String
  /// The version in key files; `nil` for keys that sign tokens.
  let keyVersion: String?
  let privateKeyPEM: String
  /// The public key, which detects a damaged private key.
  let publicKeyPEM: String
  /// Start of validity in Unix seconds; `nil` for no start.
  let validFrom: Int64?
  /// End of validity in Unix seconds, exclusive; `nil` for no end.
  var validThru: Int64?

  /// Generates a key.
  init(keyID: String, keyVersion: String?, validFrom: Date?) {
    self.keyID = keyID
    self.keyVersion = keyVersion
    let key = P256.Signing.PrivateKey()
    (privateKeyPEM, publicKeyPEM) = (key.pemRepresentation, key.publicKey.pemRepresentation)
    self.validFrom = validFrom.map(\.unixSecond)
  }

  /// - Throws: `DecodingError` if the public half does not belong to the private key.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    keyID = try fields.decode(String.self, forKey: .keyID)
    keyVersion = try fields.decodeIfPresent(String.self, forKey: .keyVersion)
    privateKeyPEM = try fields.decode(String.self, forKey: .privateKeyPEM)
    publicKeyPEM = try fields.decode(String.self, forKey: .publicKeyPEM)
    validFrom = try fields.decodeIfPresent(Int64.self, forKey: .validFrom)
    validThru = try fields.decodeIfPresent(Int64.self, forKey: .validThru)
    // Text that is not a key belongs to no public key.
    let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
    guard key?.publicKey.pemRepresentation == publicKeyPEM else {
      throw DecodingError.dataCorruptedError(
        forKey: .publicKeyPEM, in: fields, debugDescription: "The private key is damaged.")
    }
  }

  var exportSigner: ExportSigner {
    ExportSigner(
      privateKeyPEM: privateKeyPEM, keyID: keyID, keyVersion: keyVersion ?? "v1",
      validFrom: validFrom.map(Self.date), validThru: validThru.map(Self.date))
  }

  /// - Throws: If the private key is not valid PEM.
  var tokenKey: SigningKey {
    get throws {
      try SigningKey(
        keyID: keyID, privateKeyPEM: privateKeyPEM,
        signsFrom: validFrom.map(Self.date) ?? .distantPast,
        publishedUntil: validThru.map(Self.date) ?? .distantFuture)
    }
  }

  var description: String { "SecretSigningKey(\(keyID) \(keyVersion ?? ""))" }

  private static func date(_ seconds: Int64) -> Date {
    Date(unixSecond: seconds)
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
