// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The temporary folder with the data of all phones and servers of a run.
///
/// It is locked while the run lives, so the next run removes the folders of those that were killed.
public struct PopulationFolder: Sendable {
  /// The folder.
  public let url: URL
  private let lock: HeldFolderLock

  /// The space that a phone needs in two weeks, in bytes.
  public static let phoneBytes = 1 << 20
  /// The space that the servers need, in bytes.
  public static let serverBytes = 64 << 20

  private static let prefix = "firebreak-simulate-"
  private static let attempts = 10

  /// The folders in which it may be created: first in memory, because a disk would confirm every small write.
  public static var usualParents: [URL] {
    [
      URL(fileURLWithPath: "/dev/shm", isDirectory: true),
      FileManager.default.temporaryDirectory,
    ]
  }

  /// Removes the folders of runs that were killed, and creates one where there is enough space.
  ///
  /// - Parameters:
  ///   - phones: The largest number of phones at a time.
  ///   - parents: The folders in which it may be created, the preferred one first.
  ///   - freeBytes: Returns the free space of a folder; nil if it cannot be written to.
  /// - Throws: `PopulationFolderError` if none has enough space.
  public init(
    phones: Int, in parents: [URL] = usualParents,
    freeBytes: (URL) -> Int? = PopulationFolder.freeBytes(in:)
  ) throws(PopulationFolderError) {
    for parent in parents { Self.removeLeftovers(in: parent) }
    let needed = Self.serverBytes + phones * Self.phoneBytes
    var free: [PopulationFolderError.Space] = []
    for parent in parents {
      let bytes = freeBytes(parent) ?? 0
      free.append(PopulationFolderError.Space(folder: parent, bytes: bytes))
      guard bytes >= needed, let created = Self.create(in: parent) else { continue }
      url = created.url
      lock = created.lock
      return
    }
    throw PopulationFolderError(needed: needed, free: free)
  }

  /// The free space of a folder in bytes; nil if it cannot be written to.
  public static func freeBytes(in folder: URL) -> Int? { FreeSpace.bytes(in: folder) }

  /// Creates a locked folder; nil if the file system does not allow it.
  private static func create(in parent: URL) -> (url: URL, lock: HeldFolderLock)? {
    for _ in 0..<attempts {
      let url = parent.appendingPathComponent("\(prefix)\(UUID().uuidString)", isDirectory: true)
      guard mkdir(url.path, 0o700) == 0 else { return nil }
      // Between both calls, another run may take it for a leftover and remove it; then the next one is created.
      // A lock that cannot be taken is the same.
      if let lock = try? FolderLock.hold(on: url), lock.isOn(url) { return (url, lock) }
    }
    return nil
  }

  /// Removes the folders of this user that no process holds. What cannot be removed is left to the next run.
  private static func removeLeftovers(in parent: URL) {
    // A folder that cannot be read has none that this user could remove.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      let url = parent.appendingPathComponent(name, isDirectory: true)
      // A folder whose lock cannot be read is one of another user.
      guard isOwn(url), let lock = try? FolderLock.hold(on: url) else { continue }
      // The next run tries again.
      withExtendedLifetime(lock) { try? FileManager.default.removeItem(at: url) }
    }
  }

  private static func isOwn(_ folder: URL) -> Bool {
    var status = stat()
    return lstat(folder.path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_uid == geteuid()
  }
}

/// No folder has enough space for a run.
public struct PopulationFolderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A folder and its free space.
  public struct Space: Hashable, Sendable {
    /// The folder.
    public let folder: URL
    /// The free space in bytes; 0 if the folder cannot be written to.
    public let bytes: Int
  }

  /// The space that the run needs, in bytes.
  public let needed: Int
  /// The folders that were tried.
  public let free: [Space]

  public var description: String {
    let tried = free.map { "\($0.folder.path) has \($0.bytes >> 20) MiB" }.joined(separator: ", ")
    return """
      The phones and servers need \(needed >> 20) MiB, but \(tried): free space, name another folder in TMPDIR, or \
      simulate fewer phones.
      """
  }
}
