import Foundation

/// Files that nobody but the owner may read.
enum PrivateFile {
  /// Writes `data` to `file`, which does not exist yet.
  static func write(_ data: Data, to file: URL) throws {
    let isMade = FileManager.default.createFile(
      atPath: file.path, contents: data, attributes: [.posixPermissions: 0o600])
    guard isMade else { throw CocoaError(.fileWriteUnknown) }
  }
}
