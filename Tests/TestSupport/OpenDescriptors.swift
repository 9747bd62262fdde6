// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The descriptors that this process has open.
public enum OpenDescriptors {
  /// The number of descriptors on a file or folder. A task that waits for a lock on a folder has one, too.
  public static func count(on url: URL) -> Int { numbers(on: url).count }

  /// The descriptors on a file or folder.
  public static func numbers(on url: URL) -> [Int32] {
    let path = url.resolvingSymlinksInPath().path
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { name in
      // Closed since the list was read: then it has no target.
      let target = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return target == path ? Int32(name) : nil
    }
  }
}
