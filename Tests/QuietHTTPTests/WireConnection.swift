import Foundation
import TestSupport

/// One connection to a server, held by whoever tests it. Every call blocks: use `Wire.aside`.
final class WireConnection: Sendable {
  private let socket: Int32

  /// Connects, from `source` where it is given; `receiveBytes` bounds what the system takes before anybody reads.
  init(port: Int, from source: String? = nil, receiveBytes: Int32? = nil) throws {
    socket = try LocalSocket.connected(to: port, from: source, receiveBytes: receiveBytes)
    var patience = timeval(tv_sec: Patience.seconds, tv_usec: 0)
    setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  func close() { Foundation.close(socket) }

  /// False where the server has hung up.
  func send(_ bytes: Data) -> Bool {
    bytes.withUnsafeBytes {
      Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    } == bytes.count
  }

  /// What comes next; empty where the server has hung up, nil where there is silence for longer than a test waits.
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
