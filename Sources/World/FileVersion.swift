// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The properties of a file that change if it is replaced or written.
package struct FileVersion: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64
  private let modifiedSeconds: Int
  private let modifiedNanoseconds: Int
  /// The length in bytes.
  package let size: Int

  /// The version of the file with the descriptor `file`.
  ///
  /// - Throws: `POSIXError` if the descriptor is not valid.
  package init(_ file: Int32) throws {
    var info = stat()
    guard fstat(file, &info) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    self.init(info)
  }

  /// The version of the file at `path`; nil if there is no file.
  package init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    self.init(info)
  }

  private init(_ info: stat) {
    device = UInt64(info.st_dev)
    number = UInt64(info.st_ino)
    modifiedSeconds = info.st_mtim.tv_sec
    modifiedNanoseconds = info.st_mtim.tv_nsec
    size = Int(info.st_size)
  }

  /// True if it is a version of the same file, which may have been written between them.
  package func isSameFile(as other: FileVersion) -> Bool {
    device == other.device && number == other.number
  }

  /// The time of the last change in milliseconds.
  package var modifiedMilliseconds: Int {
    modifiedSeconds * 1_000 + modifiedNanoseconds / 1_000_000
  }
}
