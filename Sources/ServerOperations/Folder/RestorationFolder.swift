// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal
import World

/// The folder from which the files of a backup are moved to their places in the folder of the servers.
///
/// While it is locked or its files are moved, no operation uses the folder of the servers.
enum RestorationFolder {
  private static let extractionPrefix = ".extract-"
  private static let prefix = ".restore-"

  /// A new folder to which a backup is extracted, on the same file system, so that its files can be moved.
  static func newExtraction(in folder: URL) -> URL {
    folder.appendingPathComponent(extractionPrefix + UUID().uuidString)
  }

  /// The name of `extracted` while its files are moved.
  static func url(of extracted: URL) -> URL {
    extracted.deletingLastPathComponent()
      .appendingPathComponent(prefix + extracted.lastPathComponent)
  }

  /// Throws if a restoration into `folder` is in progress.
  static func refuseRunning(in folder: URL) throws {
    let names = FileManager.default.names(in: folder).filter {
      $0.hasPrefix(prefix) || $0.hasPrefix(extractionPrefix)
    }
    guard names.contains(where: { isLocked(folder.appendingPathComponent($0)) }) else { return }
    throw CommandFailure.badInput(
      "A restoration into \(folder.path.printable) is in progress: wait until it has ended.")
  }

  /// Throws if a restoration into `folder` is in progress, or was killed while it moved files: some of its servers may
  /// be missing, and a start would create new ones.
  static func refuseUnfinished(in folder: URL) throws {
    try refuseRunning(in: folder)
    try refuse([prefix], in: folder)
  }

  /// Throws also if a restoration into `folder` was killed before it moved files, for a folder in which some are
  /// missing.
  static func refuseInterrupted(in folder: URL) throws {
    try refuseRunning(in: folder)
    try refuse([prefix, extractionPrefix], in: folder)
  }

  private static func refuse(_ prefixes: [String], in folder: URL) throws {
    let names = FileManager.default.names(in: folder)
    guard let left = names.first(where: { prefixes.contains(where: $0.hasPrefix) }) else { return }
    let hasRealms = FileManager.default.isFolder(
      at: ServerFolder(at: folder.path).realmsFolder.path)
    throw CommandFailure.badInput(
      "A restoration into \(folder.path.printable) was interrupted and has left \(left.printable): "
        + (hasRealms
          ? "restore the backup again with --replace, which keeps the folder realms there."
          : "move the folder away, and restore the backup again."))
  }

  private static func isLocked(_ url: URL) -> Bool {
    do { return try FolderLock.hold(on: url) == nil } catch {
      // The restoration has removed the folder meanwhile.
      return false
    }
  }
}
