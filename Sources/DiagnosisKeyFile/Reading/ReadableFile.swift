import Foundation

/// An open file, read in pieces, closed when nobody holds it.
final class ReadableFile {
  let byteCount: Int
  private let descriptor: Int32

  /// Opens `url`, which must be a plain file.
  init(_ url: URL) throws(KeyFileError) {
    // Not blocking, so that a pipe of that name is refused and not waited for.
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .cannotRead(errno) }
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      byteCount = 0
      throw .cannotRead(errno)
    }
    byteCount = Int(status.st_size)
    guard status.st_mode & 0o170000 == 0o100000 else { throw .notAKeyFile }
  }

  deinit {
    close(descriptor)
  }

  /// The bytes at `offset`: `count` of them, or fewer where the file ends.
  func bytes(at offset: Int, count: Int) throws(KeyFileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(descriptor, &bytes, count, off_t(offset))
    guard read >= 0 else { throw .cannotRead(errno) }
    return Array(bytes.prefix(read))
  }

  /// Hands over the whole file in chunks, all in one buffer.
  func readAll(_ receive: (UnsafeRawBufferPointer) throws -> Void) throws {
    var chunk = [UInt8](repeating: 0, count: KeyFileLimit.chunkByteCount)
    var offset = 0
    while true {
      let count = pread(descriptor, &chunk, chunk.count, off_t(offset))
      guard count >= 0 else { throw KeyFileError.cannotRead(errno) }
      guard count > 0 else { return }
      try chunk.withUnsafeBytes { try receive(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += count
    }
  }
}
