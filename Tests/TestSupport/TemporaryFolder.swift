// SPDX-License-Identifier: Apache-2.0
import Foundation

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
