// SPDX-License-Identifier: Apache-2.0
import CZlib
import Foundation
import Synchronization
import World

/// An entry of a zip that is being written, deflated in pieces on several threads.
///
/// The piece boundaries depend only on the number of bytes before them. So the same content gives the
/// same bytes, for any number of threads and any chunks.
final class DeflatedEntry {
  private let file: AppendedFile
  private let pool: DeflatePool
  private let byteCountMax: Int
  private var byteCount = 0
  private var piece = DeflatePiece()
  /// The checksum of the content that is in the file.
  private(set) var checksum = CRC32()

  /// An entry of at most `byteCountMax` bytes, appended to `file`.
  init(in file: AppendedFile, byteCountMax: Int, pool: DeflatePool) {
    self.file = file
    self.byteCountMax = byteCountMax
    self.pool = pool
  }

  /// Appends the next bytes.
  ///
  /// - Throws: `.tooLarge` beyond the limit of readers, or the error of a write; then the entry is invalid.
  func append(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    byteCount += bytes.count
    guard byteCount <= byteCountMax else { throw .tooLarge }
    var rest = bytes[...]
    while !rest.isEmpty {
      // A full piece is submitted only when more bytes follow, because the last piece is flushed differently.
      if piece.isFull { try submitPiece() }
      rest = piece.take(rest)
    }
  }

  /// Ends the entry; all its bytes are then in the file.
  func finish() throws(KeyFileError) {
    piece.isLast = true
    try write(pool.finish(submitting: piece))
  }

  private func submitPiece() throws(KeyFileError) {
    let full = piece
    piece = DeflatePiece(after: full)
    try write(pool.submit(full))
  }

  private func write(_ pieces: [DeflatedPiece]) throws(KeyFileError) {
    for piece in pieces {
      try piece.bytes.withRawBytes(file.append)
      checksum.append(piece.checksum)
    }
  }
}

/// Deflates pieces on several threads and returns them in order.
typealias DeflatePool = OrderedThreadPool<DeflatePiece, DeflatedPiece, KeyFileError>

/// A piece of an entry, with the bytes before it that deflate can refer to.
struct DeflatePiece: Sendable {
  /// The dictionary, followed by the content.
  private(set) var bytes: [UInt8] = []
  private(set) var dictionaryByteCount = 0
  /// True if the entry ends with this piece.
  var isLast = false

  /// The first piece of an entry, which has no dictionary.
  init() {}

  /// The piece that follows `piece`.
  init(after piece: DeflatePiece) {
    bytes.reserveCapacity(DeflateLimit.dictionaryByteCount + DeflateLimit.pieceByteCount)
    // A slice, because `suffix` of a sequence copies byte by byte.
    let dictionary: ArraySlice<UInt8> = piece.bytes.suffix(DeflateLimit.dictionaryByteCount)
    bytes += dictionary
    dictionaryByteCount = bytes.count
  }

  var contentByteCount: Int { bytes.count - dictionaryByteCount }

  var isFull: Bool { contentByteCount >= DeflateLimit.pieceByteCount }

  /// Appends as much as there is room for, and returns the rest.
  mutating func take(_ content: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    let room = DeflateLimit.pieceByteCount - contentByteCount
    bytes += UnsafeRawBufferPointer(rebasing: content.prefix(room))
    return content.dropFirst(room)
  }
}

/// A piece after compression.
struct DeflatedPiece: Sendable {
  /// A part of a raw deflate stream that ends on a byte boundary; the parts are concatenated.
  let bytes: [UInt8]
  /// The checksum of the uncompressed content.
  let checksum: CRC32
}

/// The figures for splitting and compressing an entry.
///
/// Documentation/KeyFiles.md, "Compression", has the reasons. None of them depends on the machine, except
/// the number of threads, which changes no byte of a file.
enum DeflateLimit {
  /// The size of a piece; the last one is shorter.
  static let pieceByteCount = 128 << 10
  /// The bytes before a piece that it can refer to: the window of deflate.
  static let dictionaryByteCount = 32 << 10
  /// The search for repetitions: as level 6 (good 8, lazy 16, chains of 128), but it accepts a repetition of
  /// 16 bytes instead of 128. Between the random bytes of two keys there are hardly any longer ones: the files
  /// have the same size, in about five sixths of the time.
  static let search = (good: Int32(8), lazy: Int32(16), nice: Int32(16), chain: Int32(128))
  /// The number of threads that deflate, including the encoding one.
  static let threads = 1...4
  /// Pieces that may be queued for each additional thread before the encoding thread deflates too.
  static let queuedPiecesPerThreadMax = 2
  /// Pieces that are submitted and not yet in the file.
  static let piecesInFlightMax = 16
}

/// The number of threads for compression.
enum DeflateThreads {
  /// The number of online processors, clamped to `DeflateLimit.threads`.
  static let available = clamped(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  static func clamped(_ count: Int) -> Int {
    min(max(count, DeflateLimit.threads.lowerBound), DeflateLimit.threads.upperBound)
  }
}

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
