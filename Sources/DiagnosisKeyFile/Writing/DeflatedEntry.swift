import Foundation
import World

/// An entry of a zip on its way into the file: cut into pieces that are deflated side by side.
///
/// Where it is cut depends on nothing but the number of bytes before, so that the same content gives the
/// same bytes, however it arrives and on however many threads. Documentation/KeyFiles.md 6.5.
final class DeflatedEntry {
  private let file: AppendedFile
  private let pool: DeflatePool
  private let byteCountMax: Int
  private var byteCount = 0
  private var piece = DeflatePiece()
  /// Of what is in the file.
  private(set) var checksum = CRC32()

  /// An entry of at most `byteCountMax` bytes whose content goes to the end of `file`.
  init(in file: AppendedFile, byteCountMax: Int, pool: DeflatePool) {
    self.file = file
    self.byteCountMax = byteCountMax
    self.pool = pool
  }

  /// Takes the next bytes.
  ///
  /// - Throws: `.tooLarge` for more than a reader takes, or why the file cannot be written; then the entry
  ///   is spoilt.
  func append(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    byteCount += bytes.count
    guard byteCount <= byteCountMax else { throw .tooLarge }
    var rest = bytes[...]
    while !rest.isEmpty {
      // Not before there is more, as the last piece ends in another way.
      if piece.isFull { try submitPiece() }
      rest = piece.take(rest)
    }
  }

  /// Ends the entry; it then is in the file.
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

/// A piece of an entry, with what came before it as far as deflate looks back.
struct DeflatePiece: Sendable {
  /// The dictionary, then the content.
  private(set) var bytes: [UInt8] = []
  private(set) var dictionaryByteCount = 0
  /// Whether the entry ends with it.
  var isLast = false

  /// An entry's first piece, which has nothing before it.
  init() {}

  /// The piece that comes after `piece`.
  init(after piece: DeflatePiece) {
    bytes.reserveCapacity(DeflateLimit.dictionaryByteCount + DeflateLimit.pieceByteCount)
    // A slice: as a sequence its last bytes would be gathered one by one.
    let dictionary: ArraySlice<UInt8> = piece.bytes.suffix(DeflateLimit.dictionaryByteCount)
    bytes += dictionary
    dictionaryByteCount = bytes.count
  }

  var contentByteCount: Int { bytes.count - dictionaryByteCount }

  /// Whether nothing more goes in.
  var isFull: Bool { contentByteCount >= DeflateLimit.pieceByteCount }

  /// Takes what there is room for, and returns the rest.
  mutating func take(_ content: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    let room = DeflateLimit.pieceByteCount - contentByteCount
    bytes += UnsafeRawBufferPointer(rebasing: content.prefix(room))
    return content.dropFirst(room)
  }
}

/// What became of a piece.
struct DeflatedPiece: Sendable {
  /// Whole bytes of a raw deflate stream, to be joined to those of the pieces before and after.
  let bytes: [UInt8]
  /// CRC-32 of the content, and how many bytes that was.
  let checksum: CRC32
}

/// How a key file is cut up to be deflated, and how much of it is in memory at once.
///
/// Documentation/KeyFiles.md 6.5 has the reasons. No figure here depends on the machine but the number of
/// threads, which changes no byte of a file.
enum DeflateLimit {
  /// Bytes of an entry that are deflated together; the last piece has what is left.
  static let pieceByteCount = 128 << 10
  /// Bytes before a piece that what is in it may refer to: deflate's window.
  static let dictionaryByteCount = 32 << 10
  /// How zlib looks for repetitions: as level 6 does (good 8, lazy 16, chains of 128), but content with one
  /// of 16 bytes and not only of 128. What two keys have in common lies between their random bytes and is
  /// hardly ever longer, so looking on finds nothing: the files are the same, a sixth of the time is not spent.
  static let search = (good: Int32(8), lazy: Int32(16), nice: Int32(16), chain: Int32(128))
  /// Threads that deflate at once, the one that encodes included.
  static let threads = 1...4
  /// Pieces that may wait for each helping thread before the one that encodes lends a hand.
  static let queuedPiecesPerThreadMax = 2
  /// Pieces that were begun and are not yet in the file, whoever is slow.
  static let piecesInFlightMax = 16
}

/// On how many threads a key file is deflated.
enum DeflateThreads {
  /// As many as there are processors at work, within `DeflateLimit.threads`.
  static let available = clamped(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// The number nearest to `wanted` that is allowed.
  static func clamped(_ count: Int) -> Int {
    min(max(count, DeflateLimit.threads.lowerBound), DeflateLimit.threads.upperBound)
  }
}
