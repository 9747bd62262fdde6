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
    let head = try file.bytes(at: 0, count: ExportScanner.magic.count)
    if head == ExportScanner.magic { return PairSource(export: url) }
    guard head.starts(with: ZipDirectory.localEntry) else { throw .notAKeyFile }
    return ZipSource(url: url, byteCount: file.byteCount)
  }
}
