// SPDX-License-Identifier: Apache-2.0
import CLibDeflate
import Foundation

/// Memory for up to a given number of bytes. Only pages that are written take memory, and it returns to the system at
/// once when the last reference ends.
///
/// libdeflate works on whole entries, whose size is unknown until they are written.
final class ReservedMemory {
  /// Valid as long as the object.
  let bytes: UnsafeMutableRawBufferPointer

  /// - Returns: Nil if the address space or the memory of the process is exhausted.
  init?(byteCount: Int) {
    let length = max(byteCount, 1)
    let start = mmap(
      nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let start, start != MAP_FAILED else { return nil }
    // Fewer page faults: they take a tenth of the time of inflating a file. Without effect if the system refuses.
    _ = madvise(start, length, MADV_HUGEPAGE)
    bytes = UnsafeMutableRawBufferPointer(start: start, count: length)
  }

  deinit {
    munmap(bytes.baseAddress, bytes.count)
  }

  /// Passes the first `byteCount` bytes to `body`.
  func withPrefix<Result, Failure: Error>(
    _ byteCount: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]))
  }
}

/// The CRC-32 of zip files.
struct CRC32 {
  private(set) var value: UInt32 = 0

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    value = libdeflate_crc32(value, bytes.baseAddress, bytes.count)
  }
}
