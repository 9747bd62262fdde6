import Crypto
import Foundation
import World

/// The key that keeps the keys of revision tokens, in a file for its owner only.
///
/// It lies beside the database and not in it, so that a copy of the database opens no token.
enum WrappingKeyFile {
  /// The key in `file`, which is made where there is none.
  ///
  /// - Throws: where the file cannot be read or made, or holds something else.
  static func key(
    in file: URL, randomness: any Randomness
  ) throws(KeyServerError) -> SymmetricKey {
    if !FileManager.default.fileExists(atPath: file.path) { try make(file, randomness) }
    guard let bytes = try? Data(contentsOf: file), bytes.count == RevisionLimit.wrappingKeyBytes
    else { throw .wrappingKey }
    return SymmetricKey(data: bytes)
  }

  /// Written whole under a name of its own and on the disk first: a key that was cut short would be no
  /// key for ever. A link takes no place that is taken: of two processes that make one, both use the first's.
  private static func make(_ file: URL, _ randomness: any Randomness) throws(KeyServerError) {
    let bytes = Data(randomness.bytes(RevisionLimit.wrappingKeyBytes))
    let unfinished = file.appendingPathExtension("unfinished-\(getpid())")
    let isMade = FileManager.default.createFile(
      atPath: unfinished.path, contents: bytes, attributes: [.posixPermissions: 0o600])
    defer { unlink(unfinished.path) }
    do {
      guard isMade else { throw KeyServerError.wrappingKey }
      try AtomicFile.sync(unfinished)
      guard link(unfinished.path, file.path) == 0 || errno == EEXIST else {
        throw KeyServerError.wrappingKey
      }
      try AtomicFile.sync(file.deletingLastPathComponent())
    } catch {
      throw .wrappingKey
    }
  }
}
