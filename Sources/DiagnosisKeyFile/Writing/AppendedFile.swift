import Foundation

/// An open file that only grows, and how far it has.
final class AppendedFile {
  private let descriptor: Int32
  /// How many bytes were written.
  private(set) var byteCount = 0

  /// Writes to an open, empty file, which stays open.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes all of `bytes`.
  func append(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let left = UnsafeRawBufferPointer(rebasing: rest)
      let count = write(descriptor, left.baseAddress, left.count)
      guard count > 0 else { throw KeyFileError(writing: errno) }
      byteCount += count
      rest = rest.dropFirst(count)
    }
  }
}
