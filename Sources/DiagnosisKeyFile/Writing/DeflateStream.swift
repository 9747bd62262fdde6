import CZlib
import Foundation
import Synchronization

/// zlib's state for one piece after the other: 256 KiB that are worth using again.
final class DeflateStream: Sendable {
  /// zlib knows its state by its address.
  private let state: Mutex<UnsafeMutablePointer<z_stream>>

  /// A stream without zlib's own header and sum, as a zip has it.
  init() throws(KeyFileError) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let result = deflateInit2_(
      stream, Int32(KeyFileWriter.deflateLevel), Z_DEFLATED, -MAX_WBITS, Self.memoryLevel,
      Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard result == Z_OK else {
      stream.deallocate()
      throw .cannotWrite(ENOMEM)
    }
    state = Mutex(stream)
  }

  deinit {
    state.withLock { stream in
      deflateEnd(stream)
      stream.deallocate()
    }
  }

  /// zlib's default.
  private static let memoryLevel: Int32 = 8
  /// The empty block that ends a piece on a whole byte, and some room so that zlib needs no second go.
  private static let flushByteCount = 64

  /// Deflates `piece` as if the pieces before had gone through this stream.
  func deflate(_ piece: DeflatePiece) throws(KeyFileError) -> DeflatedPiece {
    try state.withLock { stream throws(KeyFileError) in try Self.deflate(piece, by: stream) }
  }

  private static func deflate(
    _ piece: DeflatePiece, by stream: UnsafeMutablePointer<z_stream>
  ) throws(KeyFileError) -> DeflatedPiece {
    try piece.bytes.withUnsafeBufferPointer { bytes throws(KeyFileError) in
      let dictionary = UnsafeBufferPointer(rebasing: bytes[..<piece.dictionaryByteCount])
      let content = UnsafeBufferPointer(rebasing: bytes[piece.dictionaryByteCount...])
      try begin(stream, dictionary)
      return DeflatedPiece(
        bytes: try deflate(content, by: stream, piece.isLast ? Z_FINISH : Z_SYNC_FLUSH),
        checksum: CRC32(of: content))
    }
  }

  private static func begin(
    _ stream: UnsafeMutablePointer<z_stream>, _ dictionary: UnsafeBufferPointer<UInt8>
  ) throws(KeyFileError) {
    try expect(deflateReset(stream))
    let search = DeflateLimit.search
    try expect(deflateTune(stream, search.good, search.lazy, search.nice, search.chain))
    guard !dictionary.isEmpty else { return }
    try expect(deflateSetDictionary(stream, dictionary.baseAddress, uInt(dictionary.count)))
  }

  private static func deflate(
    _ content: UnsafeBufferPointer<UInt8>, by stream: UnsafeMutablePointer<z_stream>,
    _ flush: Int32
  ) throws(KeyFileError) -> [UInt8] {
    let roomByteCount = Int(deflateBound(stream, uLong(content.count))) + flushByteCount
    var room = [UInt8](repeating: 0, count: roomByteCount)
    var deflated: [UInt8] = []
    stream.pointee.next_in = UnsafeMutablePointer(mutating: content.baseAddress)
    stream.pointee.avail_in = uInt(content.count)
    var result = Z_OK
    repeat {
      room.withUnsafeMutableBufferPointer { room in
        stream.pointee.next_out = room.baseAddress
        stream.pointee.avail_out = uInt(room.count)
        result = CZlib.deflate(stream, flush)
      }
      deflated += room.dropLast(Int(stream.pointee.avail_out))
    } while stream.pointee.avail_out == 0
    // That nothing was left to do (Z_BUF_ERROR) is no error but where the stream was to end.
    let isEnded = flush == Z_FINISH ? result == Z_STREAM_END : [Z_OK, Z_BUF_ERROR].contains(result)
    guard isEnded, stream.pointee.avail_in == 0 else { throw .cannotWrite(EIO) }
    return deflated
  }

  private static func expect(_ result: Int32) throws(KeyFileError) {
    guard result == Z_OK else { throw .cannotWrite(EIO) }
  }
}

/// As many streams as threads have deflated at once, each in use by one of them or by none.
final class DeflateStreamPool: Sendable {
  private let idle = Mutex<[DeflateStream]>([])

  /// Deflates `piece` by a stream that nobody else uses.
  func deflate(_ piece: DeflatePiece) throws(KeyFileError) -> DeflatedPiece {
    let stream: DeflateStream
    if let rested = idle.withLock({ $0.popLast() }) {
      stream = rested
    } else {
      stream = try DeflateStream()
    }
    defer { idle.withLock { $0.append(stream) } }
    return try stream.deflate(piece)
  }
}
