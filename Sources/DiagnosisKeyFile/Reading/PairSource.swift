import Foundation

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
