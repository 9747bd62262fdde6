import Foundation

/// Where the halves of a key file come from, chunk by chunk.
protocol ExportSource {
  /// Hands over every chunk of both halves; a half's chunks come in order, the halves in any order.
  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws
}

extension ZipSource {
  /// The source for the file at `url`: told by its first bytes, not by its name.
  static func source(at url: URL) throws(KeyFileError) -> any ExportSource {
    let file = try ReadableFile(url)
    guard file.byteCount <= KeyFileLimit.fileByteCountMax else { throw .tooLarge }
    let head = try file.bytes(at: 0, count: ExportFormat.magic.count)
    if head == ExportFormat.magic { return PairSource(export: url) }
    guard head.starts(with: ZipDirectory.localEntry) else { throw .notAKeyFile }
    return ZipSource(url: url, byteCount: file.byteCount)
  }
}

/// A key file out of its zip: an export with its signatures beside it, `x.bin` and `x.sig`.
struct PairSource: ExportSource {
  /// The export.
  let export: URL

  var signatures: URL {
    export.deletingPathExtension().appendingPathExtension("sig")
  }

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    try read(export, as: .export, receive)
    do {
      try read(signatures, as: .signatures, receive)
    } catch KeyFileError.cannotRead(ENOENT) {
      // Unsigned, which may be looked at and will not verify.
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
