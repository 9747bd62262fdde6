import Foundation

/// Bytes over a real socket, so that a test sees what a listener on the wire sees.
enum Wire {
  /// Sends `pieces` with `pause` seconds between them and returns all that comes back until the
  /// server closes. Gives up after a minute of silence: the machine may be held up.
  static func exchange(_ pieces: [Data], port: Int, pause: Double = 0) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      // A thread of its own: what waits here must not hold up the server it waits for.
      Thread.detachNewThread {
        continuation.resume(with: Result { try blockingExchange(pieces, port: port, pause: pause) })
      }
    }
  }

  private static func blockingExchange(_ pieces: [Data], port: Int, pause: Double) throws -> Data {
    let connection = try WireConnection(port: port)
    defer { connection.close() }
    for (index, piece) in pieces.enumerated() {
      if index > 0 { usleep(UInt32(pause * 1_000_000)) }
      // A server that has hung up already may have answered before it did.
      guard connection.send(piece) else { break }
    }
    var reply = Data()
    while let part = connection.receive(), !part.isEmpty { reply.append(part) }
    return reply
  }
}
