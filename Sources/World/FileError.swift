// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file operation that the system refused.
package struct FileError: Error, Equatable {
  /// The operation that failed.
  package enum Operation: String, Sendable {
    case create, open, write, setPermissions, sync, rename, lock
  }

  /// The operation that failed.
  package let operation: Operation
  /// The path of the final file or folder.
  package let path: String
  /// The value of `errno`.
  package let code: Int32

  /// The failure that `errno` describes.
  package init(_ operation: Operation, _ url: URL) {
    code = errno
    self.operation = operation
    path = url.path
  }

  /// `AtomicFile.isReplaceable` is false for the file.
  private var isNotReplaceable: Bool { operation == .rename && code == EINVAL }

  /// The disk or the quota is full, or the file is too large for the file system.
  package var isDiskFull: Bool { Self.isDiskFull(code) }

  /// The same for a value of `errno`.
  package static func isDiskFull(_ code: Int32) -> Bool {
    [ENOSPC, EDQUOT, EFBIG].contains(code)
  }
}

extension FileError: CustomStringConvertible {
  package var description: String {
    isNotReplaceable
      ? "\(path): it is a device, a pipe or a socket, which is not replaced: name a file"
      : "\(path): \(operation) failed: \(String(cString: strerror(code)))"
  }
}
