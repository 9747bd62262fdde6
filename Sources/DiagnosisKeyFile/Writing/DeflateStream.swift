import CZlib
import Foundation
import Synchronization

/// The state of zlib, which takes 256 KiB and is reused for one piece after the other.
final class DeflateStream: Sendable {
  /// A pointer, because zlib compares the address of its state.
  private let state: Mutex<UnsafeMutablePointer<z_stream>>

  /// A raw deflate stream, without zlib's header and checksum, as zips need it.
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
  /// Room for the empty block that ends a piece on a byte boundary, so that zlib needs no second call.
  private static let flushByteCount = 64

  /// Deflates `piece` as the continuation of the pieces before it.
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
    // Z_BUF_ERROR means that no progress was possible, which is an error only at the end of the stream.
    let isEnded = flush == Z_FINISH ? result == Z_STREAM_END : [Z_OK, Z_BUF_ERROR].contains(result)
    guard isEnded, stream.pointee.avail_in == 0 else { throw .cannotWrite(EIO) }
    return deflated
  }

  private static func expect(_ result: Int32) throws(KeyFileError) {
    guard result == Z_OK else { throw .cannotWrite(EIO) }
  }
}

/// The streams of one zip; each is used by one thread at a time.
final class DeflateStreamPool: Sendable {
  private let idle = Mutex<[DeflateStream]>([])

  /// Deflates `piece` with an idle stream, or a new one if all are in use.
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
