import Foundation

/// Where the health authority's servers keep everything: `--data DIR`.
///
/// Each server has a folder of its own, so that two machines can have one each: of the other's only
/// public keys are needed. Documentation/Serving.md 2.
struct ServerFolder {
  let url: URL

  /// The folder at `path`, made for its owner only where it is missing.
  init(path: String) throws {
    url = URL(fileURLWithPath: path)
    for folder in [url, verification, keys, exports] {
      // Key files are public, and another's web server may serve them; all else is the owner's.
      let rights = [url, exports].contains(folder) ? 0o755 : 0o700
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: rights])
      } catch {
        throw CommandFailure.badInput(
          "The folder \(folder.path) cannot be made: name another with --data, or check its rights."
        )
      }
    }
  }

  /// The folder at `path`, in which `server` must have its own: for commands that look and make nothing.
  init(existing path: String, of server: ServerName) throws {
    url = URL(fileURLWithPath: path)
    let own = server == .verification ? verification : keys
    guard Self.isFolder(url) else {
      throw CommandFailure.badInput(
        "There is no folder \(path.printable): name the servers' with --data.")
    }
    guard Self.isFolder(own) else {
      throw CommandFailure.badInput(
        "There is no folder \(own.path.printable): name the servers' with --data, or start them"
          + " first.")
    }
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// The folder of the verification server.
  var verification: URL { url.appendingPathComponent("verification") }
  /// The folder of the key server.
  var keys: URL { url.appendingPathComponent("keys") }
  /// Key files and indexes, as phones fetch them.
  var exports: URL { url.appendingPathComponent("exports") }
  /// The verification server's database.
  var verificationDatabase: URL { verification.appendingPathComponent("verification.sqlite") }
  /// The key server's database.
  var keyDatabase: URL { keys.appendingPathComponent("keys.sqlite") }
  /// The verification server's secrets.
  var verificationSecrets: OwnersFile {
    OwnersFile(url: verification.appendingPathComponent("secrets.json"))
  }
  /// The key server's secrets.
  var keySecrets: OwnersFile { OwnersFile(url: keys.appendingPathComponent("secrets.json")) }
  /// What an official sets of the verification server.
  var verificationSettings: SettingsFile {
    SettingsFile(url: verification.appendingPathComponent("settings.json"))
  }
  /// What an official sets of the key server.
  var keySettings: SettingsFile { SettingsFile(url: keys.appendingPathComponent("settings.json")) }
  /// The public keys of upload tokens: what the key server needs of the verification server.
  var tokenPublicKeys: TokenKeysFile {
    TokenKeysFile(url: url.appendingPathComponent("token-keys.json"))
  }
}
