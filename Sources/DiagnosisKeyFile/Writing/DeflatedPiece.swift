/// What became of a piece.
struct DeflatedPiece: Sendable {
  /// Whole bytes of a raw deflate stream, to be joined to those of the pieces before and after.
  let bytes: [UInt8]
  /// CRC-32 of the content, and how many bytes that was.
  let check: CyclicCheck
}
