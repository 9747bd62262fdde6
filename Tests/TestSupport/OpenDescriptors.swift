// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The descriptors that this process has open.
public enum OpenDescriptors {
  /// The number of descriptors on a file or folder. A task that waits for a lock on a folder has one, too.
  public static func count(on url: URL) -> Int {
    let path = url.resolvingSymlinksInPath().path
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { name in
      (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == path
    }
  }
}
