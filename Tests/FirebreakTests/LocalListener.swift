// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A listening socket on a free port of loopback.
final class LocalListener: Sendable {
  let port: UInt16
  private let descriptor: Int32

  /// - Parameter listens: False for a port that refuses connections, and that no program gets meanwhile.
  init(listens: Bool = true) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && (!listens || listen(descriptor, 1) == 0)
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    try #require(status)
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }

  /// True if a client has connected, which gets no answer.
  var hasConnection: Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, 0) == 1
  }

  /// Resets the connections of all clients.
  func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
