// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads a file in parts, so that a large one does not have to be in memory at once.
///
/// ```swift
/// var hash = SHA256()
/// guard FileChunks.read(file, { hash.update(data: $0) }) else { return nil }
/// ```
package enum FileChunks {
  /// The size of a part in bytes: large enough that the cost of system calls is negligible.
  package static let bytesMax = 1 << 20

  /// Passes the content of `file` to `body`, in order.
  ///
  /// - Returns: False if the file cannot be read to its end.
  package static func read(_ file: URL, _ body: (Data) throws -> Void) rethrows -> Bool {
    guard let handle = FileHandle(forReadingAtPath: file.path) else { return false }
    while true {
      guard let chunk = handle.bytes(upTo: bytesMax) else { return false }
      guard !chunk.isEmpty else { return true }
      try body(chunk)
    }
  }
}
