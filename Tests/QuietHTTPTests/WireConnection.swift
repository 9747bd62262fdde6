import Foundation

/// One connection to a server, held by whoever tests it. Every call blocks: use `Wire.aside`.
final class WireConnection: Sendable {
  private let socket: Int32

  /// Connects; `receiveBytes` bounds what the system takes before anybody reads.
  init(port: Int, receiveBytes: Int32? = nil) throws {
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    if var receiveBytes {
      setsockopt(
        socket, SOL_SOCKET, SO_RCVBUF, &receiveBytes, socklen_t(MemoryLayout<Int32>.size))
    }
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
      let reason = errno
      Foundation.close(socket)
      throw POSIXError(.init(rawValue: reason) ?? .ECONNREFUSED)
    }
  }

  func close() { Foundation.close(socket) }

  /// False where the server has hung up.
  func send(_ bytes: Data) -> Bool {
    bytes.withUnsafeBytes {
      Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    } == bytes.count
  }

  /// What comes next; empty where the server has hung up, nil after a minute of silence.
  func receive(atMost count: Int = 1 << 16) -> Data? {
    var buffer = [UInt8](repeating: 0, count: count)
    var received = recv(socket, &buffer, count, 0)
    // A process that was held up and goes on is no server that hung up.
    while received < 0, errno == EINTR { received = recv(socket, &buffer, count, 0) }
    if received < 0 { return errno == EAGAIN ? nil : Data() }
    return Data(buffer.prefix(received))
  }

  /// Sends a request and reads one whole answer; nil where there is none.
  func ask(_ request: String) -> WireAnswer? {
    guard send(Data(request.utf8)) else { return nil }
    var bytes = Data()
    while let part = receive(), !part.isEmpty {
      bytes.append(part)
      guard let answer = try? WireAnswer(bytes), let text = answer.headers["content-length"],
        let length = Int(text), answer.body.count >= length
      else { continue }
      return answer
    }
    return nil
  }
}

extension Wire {
  /// Does what blocks on a thread of its own: it must not hold up the server it waits for.
  static func aside<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
  }
}
