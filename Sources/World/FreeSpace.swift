// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The free space of a file system.
package enum FreeSpace {
  /// The bytes that a process without privileges may still write to a folder; nil if it is missing or may not be
  /// written to.
  package static func bytes(in folder: URL) -> Int? {
    var status = statvfs()
    // With the dot, a file at the place of the folder is an error, also for root.
    guard access(folder.path + "/.", W_OK | X_OK) == 0, statvfs(folder.path, &status) == 0 else {
      return nil
    }
    return bytes(blocks: UInt64(status.f_bavail), of: UInt64(status.f_frsize))
  }

  /// The bytes of blocks; `Int.max` for more, which network file systems without a limit report.
  package static func bytes(blocks: UInt64, of size: UInt64) -> Int {
    let (bytes, overflows) = blocks.multipliedReportingOverflow(by: size)
    return overflows ? .max : Int(clamping: bytes)
  }
}
