import Foundation

/// A file that holds one secret of somebody else's making, such as a key from Apple: named in the settings, so
/// that the secret itself stands in no settings and on no command line.
///
/// Documentation/Serving.md 9.3.
struct SecretFile {
  private let path: String
  private let setting: String

  /// The file that `setting` names `name`, from the server's folder on.
  init(_ name: String, in folder: URL, setting: String) {
    path = folder.file(named: name).path
    self.setting = setting
  }

  /// What the file holds, without blanks and line feeds around it.
  ///
  /// - Throws: `CommandFailure` where it is not there, is open to others, or holds nothing or too much.
  func text() throws -> String {
    let place = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    guard let facts = try? FileManager.default.attributesOfItem(atPath: place.path) else {
      throw refusal("cannot be read: put it there and chmod 600 it.")
    }
    // A pipe would be waited for.
    guard facts[.type] as? FileAttributeType == .typeRegular else {
      throw refusal("is no file: name one.")
    }
    let rights = (facts[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
    guard rights & 0o077 == 0 else {
      throw refusal("can be read by others than its owner: chmod 600 it, and change what is in it.")
    }
    guard let handle = try? FileHandle(forReadingFrom: place) else {
      throw refusal("cannot be read: put it there and chmod 600 it.")
    }
    defer { try? handle.close() }
    let content = try? handle.read(upToCount: SettingLimit.secretBytesMax + 1) ?? Data()
    guard let content, content.count <= SettingLimit.secretBytesMax,
      let text = String(data: content, encoding: .utf8)
    else { throw refusal("must hold text of at most \(SettingLimit.secretBytesMax) bytes.") }
    let bare = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !bare.isEmpty else { throw refusal("is empty: put the secret into it.") }
    return bare
  }

  /// The P-256 private key in PEM that the file holds, as `check` takes it.
  func key<Key>(_ check: (String) throws -> Key) throws -> Key {
    let pem = try text()
    do { return try check(pem) } catch {
      throw refusal("must hold a P-256 private key in PEM.")
    }
  }

  private func refusal(_ fault: String) -> CommandFailure {
    CommandFailure.badInput("\(setting): \(path.printable) \(fault)")
  }
}
