// SPDX-License-Identifier: Apache-2.0
import Foundation

// Access to files whose failures have the same effect, whatever the reason.

extension FileManager {
  /// Removes a file or folder that is not needed any more. Does nothing if it does not exist.
  package func removeUnneeded(_ url: URL) {
    // A file that cannot be removed only takes up space.
    try? removeItem(at: url)
  }

  /// The names in `folder`; none if it does not exist or cannot be read.
  package func names(in folder: URL) -> [String] {
    // A folder without access is the same to the caller as one without files.
    (try? contentsOfDirectory(atPath: folder.path)) ?? []
  }

  /// The folder and those above it that do not exist, the inner ones first.
  package func missingFolders(of folder: URL) -> [URL] {
    var missing: [URL] = []
    // Without `..`, after which a path would get longer and not shorter.
    var next = folder.standardizedFileURL
    while !fileExists(atPath: next.path), next.pathComponents.count > 1 {
      missing.append(next)
      next.deleteLastPathComponent()
    }
    return missing
  }

  /// The attributes of the file, or of the symbolic link itself; nil if there is none.
  package func attributes(of file: URL) -> [FileAttributeKey: Any]? {
    // Looking up a file fails if it does not exist, or if a folder above it may not be searched.
    try? attributesOfItem(atPath: file.path)
  }
}

extension FileHandle {
  /// The next bytes, at most `count`, and none at the end; nil if the file cannot be read.
  package func bytes(upTo count: Int) -> Data? {
    do {
      return try read(upToCount: count) ?? Data()
    } catch {
      return nil
    }
  }
}
