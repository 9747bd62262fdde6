// SPDX-License-Identifier: Apache-2.0
import CLibDeflate
import Foundation

/// The content of a zip entry that is being written. It is collected in memory, because libdeflate compresses an entry
/// as a whole: Documentation/KeyFiles.md, "Compression".
final class ZipEntryContent {
  private let memory: ReservedMemory
  private let byteCountMax: Int
  private(set) var byteCount = 0

  /// The content of an entry of at most `byteCountMax` bytes.
  init(byteCountMax: Int) throws(KeyFileError) {
    guard let memory = ReservedMemory(byteCount: byteCountMax) else { throw .cannotWrite(ENOMEM) }
    self.memory = memory
    self.byteCountMax = byteCountMax
  }

  var checksum: CRC32 {
    memory.withPrefix(byteCount) { bytes in
      var checksum = CRC32()
      checksum.update(bytes)
      return checksum
    }
  }

  /// Appends the next bytes.
  ///
  /// - Throws: `.tooLarge` beyond the limit of readers; then the content is invalid.
  func append(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    guard bytes.count <= byteCountMax - byteCount else { throw .tooLarge }
    UnsafeMutableRawBufferPointer(rebasing: memory.bytes[byteCount...]).copyMemory(from: bytes)
    byteCount += bytes.count
  }

  /// Passes the content on as a raw deflate stream. The same content gives the same bytes with the same version of
  /// libdeflate.
  func deflated<Result>(
    _ body: (UnsafeRawBufferPointer) throws(KeyFileError) -> Result
  ) throws(KeyFileError) -> Result {
    guard let compressor = libdeflate_alloc_compressor(Int32(KeyFileWriter.deflateLevel)) else {
      throw .cannotWrite(ENOMEM)
    }
    defer { libdeflate_free_compressor(compressor) }
    let bound = libdeflate_deflate_compress_bound(compressor, byteCount)
    guard let room = ReservedMemory(byteCount: bound) else { throw .cannotWrite(ENOMEM) }
    let deflatedByteCount = libdeflate_deflate_compress(
      compressor, memory.bytes.baseAddress, byteCount, room.bytes.baseAddress, room.bytes.count)
    guard deflatedByteCount > 0 else { throw .cannotWrite(EIO) }
    return try room.withPrefix(deflatedByteCount, body)
  }
}
