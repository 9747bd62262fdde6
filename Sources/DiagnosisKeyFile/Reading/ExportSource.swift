import Foundation

/// A source of both halves of a key file, chunk by chunk.
protocol ExportSource {
  /// Passes all chunks of both halves to `receive`. The chunks of a half come in order, the halves in any.
  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws
}

extension ZipSource {
  /// The source for the file at `url`, chosen by its first bytes, not by its name.
  static func source(at url: URL) throws(KeyFileError) -> any ExportSource {
    let file = try ReadableFile(url)
    guard file.byteCount <= KeyFileLimit.fileByteCountMax else { throw .tooLarge }
    let head = try file.bytes(at: 0, count: ExportFormat.magic.count)
    if head == ExportFormat.magic { return PairSource(export: url) }
    guard head.starts(with: ZipDirectory.localEntry) else { throw .notAKeyFile }
    return ZipSource(url: url, byteCount: file.byteCount)
  }
}

/// A key file without a zip: an export beside its signatures, `x.bin` and `x.sig`.
struct PairSource: ExportSource {
  let export: URL

  var signatures: URL {
    export.deletingPathExtension().appendingPathExtension("sig")
  }

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    try read(export, as: .export, receive)
    do {
      try read(signatures, as: .signatures, receive)
    } catch KeyFileError.cannotRead(ENOENT) {
      // Without signatures the file can be inspected, but not verified.
    }
  }

  private func read(
    _ url: URL, as part: ExportPart,
    _ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let file = try ReadableFile(url)
    guard file.byteCount <= part.byteCountMax else { throw KeyFileError.tooLarge }
    try file.readAll { chunk in try receive(part, chunk) }
  }
}

/// An open file; closed with its last reference.
final class ReadableFile {
  let byteCount: Int
  private let descriptor: Int32

  /// Opens `url`, which must be a regular file.
  init(_ url: URL) throws(KeyFileError) {
    // O_NONBLOCK, so that a pipe is rejected instead of waited for.
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

  /// Returns `count` bytes at `offset`, or fewer at the end of the file.
  func bytes(at offset: Int, count: Int) throws(KeyFileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(descriptor, &bytes, count, off_t(offset))
    guard read >= 0 else { throw .cannotRead(errno) }
    return Array(bytes.prefix(read))
  }

  /// Passes the whole file on in chunks, all in one buffer.
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
