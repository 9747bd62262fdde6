import Synchronization

/// As many streams as threads have deflated at once, each in use by one of them or by none.
final class DeflateStreams: Sendable {
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
