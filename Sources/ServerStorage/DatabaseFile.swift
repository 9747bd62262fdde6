// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The files of an open database: the database and its write-ahead log.
///
/// If someone deletes or replaces one of them, SQLite goes on with the open file. What it writes then is lost when the
/// server stops, so nothing may be acknowledged any more.
package struct DatabaseFile: Sendable {
  /// The endings of the names of all files that SQLite may have for a database.
  package static let suffixes = ["", "-wal", "-shm", "-journal"]

  private let files: [(path: String, opened: FileVersion)]

  /// The files of the database at `url`, which is open and was written to.
  init(opened url: URL) {
    files = ["", "-wal"].compactMap { suffix in
      let path = url.path + suffix
      return FileVersion(path: path).map { (path, $0) }
    }
  }

  /// True if each file is still the one that is open.
  var isInPlace: Bool {
    !files.isEmpty
      && files.allSatisfy { FileVersion(path: $0.path)?.isSameFile(as: $0.opened) == true }
  }

  /// Creates a missing file with mode 0600. SQLite would use the umask; it gives the log the mode of the database.
  ///
  /// An error is not reported here: SQLite cannot open the file then.
  static func createPrivately(_ url: URL) {
    // Two processes may create the same file: the second one must not replace it.
    let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }
}
