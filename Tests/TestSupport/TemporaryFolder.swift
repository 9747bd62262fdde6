// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A new folder that is removed when the object is deallocated.
public final class TemporaryFolder: Sendable {
  public let url: URL

  /// Creates the folder. Its name is short, because the paths of sockets inside have at most 107 bytes.
  public init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("firebreak-test-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// The folders that are removed when the process exits.
  private static let shared = Mutex<[URL]>([])

  /// Removes the folder when the process exits, too: for one that tests share, which is never deallocated.
  public func removeAtExit() {
    let isFirst = Self.shared.withLock { folders in
      folders.append(url)
      return folders.count == 1
    }
    guard isFirst else { return }
    atexit {
      for folder in TemporaryFolder.shared.withLock({ $0 }) {
        // At exit there is no test that could report an error.
        try? FileManager.default.removeItem(at: folder)
      }
    }
  }

  /// A new folder with the same content.
  public func copy() throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      try FileManager.default.copyItem(at: path(name), to: copy.path(name))
    }
    return copy
  }

  /// A URL inside the folder.
  public func path(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// All files inside, at any depth.
  public func files() -> [URL] {
    let all = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)
    return (all?.compactMap { $0 as? URL } ?? []).filter { file in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }
}
