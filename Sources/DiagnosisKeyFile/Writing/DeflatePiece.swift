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
