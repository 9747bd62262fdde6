import Foundation

/// Bytes over a real socket, so that a test sees what a listener on the wire sees.
enum Wire {
  /// Sends `pieces` with `pause` seconds between them and returns all that comes back until the
  /// server closes. Gives up after ten seconds of silence.
  static func exchange(_ pieces: [Data], port: Int, pause: Double = 0) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      // A thread of its own: what waits here must not hold up the server it waits for.
      Thread.detachNewThread {
        continuation.resume(with: Result { try blockingExchange(pieces, port: port, pause: pause) })
      }
    }
  }

  private static func blockingExchange(_ pieces: [Data], port: Int, pause: Double) throws -> Data {
    let socket = try connected(to: port)
    defer { close(socket) }
    for (index, piece) in pieces.enumerated() {
      if index > 0 { usleep(UInt32(pause * 1_000_000)) }
      let sent = piece.withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      // A server that has hung up already may have answered before it did.
      guard sent == piece.count else { break }
    }
    var reply = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return reply }
      reply.append(contentsOf: buffer.prefix(count))
    }
  }

  private static func connected(to port: Int) throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      close(socket)
      throw POSIXError(.init(rawValue: errno) ?? .ECONNREFUSED)
    }
    return socket
  }
}
