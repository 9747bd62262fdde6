/// An entry of a zip on its way into the file: cut into pieces that are deflated side by side.
///
/// Where it is cut depends on nothing but the number of bytes before, so that the same content gives the
/// same bytes, however it arrives and on however many threads. Documentation/KeyFiles.md 6.5.
final class DeflatedEntry {
  private let file: AppendedFile
  private let crew: DeflateCrew
  private let byteCountMax: Int
  private var byteCount = 0
  private var piece = DeflatePiece()
  /// Of what is in the file.
  private(set) var check = CyclicCheck()

  /// An entry of at most `byteCountMax` bytes whose content goes to the end of `file`.
  init(in file: AppendedFile, byteCountMax: Int, deflatedBy crew: DeflateCrew) {
    self.file = file
    self.byteCountMax = byteCountMax
    self.crew = crew
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
      if piece.isFull { try passOn() }
      rest = piece.take(rest)
    }
  }

  /// Ends the entry; it then is in the file.
  func finish() throws(KeyFileError) {
    piece.isLast = true
    try write(crew.finish(piece))
  }

  private func passOn() throws(KeyFileError) {
    let full = piece
    piece = DeflatePiece(after: full)
    try write(crew.add(full))
  }

  private func write(_ pieces: [DeflatedPiece]) throws(KeyFileError) {
    for piece in pieces {
      try piece.bytes.withRawBytes(file.append)
      check.append(piece.check)
    }
  }
}
