import Foundation
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
