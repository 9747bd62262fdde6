// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal
import World

/// The folder from which the files of a backup are moved to their places in the folder of the servers.
///
/// While it exists, no operation uses the folder of the servers.
enum RestorationFolder {
  private static let prefix = ".restore-"

  /// A new folder to which a backup is extracted, on the same file system, so that its files can be moved.
  static func newExtraction(in folder: URL) -> URL {
    folder.appendingPathComponent(".extract-" + UUID().uuidString)
  }

  /// The name of `extracted` while its files are moved.
  static func url(of extracted: URL) -> URL {
    extracted.deletingLastPathComponent()
      .appendingPathComponent(prefix + extracted.lastPathComponent)
  }

  /// Throws if a restoration into `folder` was killed: some of its servers may be missing, and a start would create
  /// new ones.
  static func refuseUnfinished(in folder: URL) throws {
    let names = FileManager.default.names(in: folder)
    guard let left = names.first(where: { $0.hasPrefix(prefix) }) else { return }
    throw CommandFailure.badInput(
      "A restoration into \(folder.path.printable) was interrupted and has left \(left.printable): move the"
        + " folder away, and restore the backup again.")
  }
}
