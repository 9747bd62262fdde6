// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A plain TCP connection to a server on this machine, for tests that an HTTP library cannot do.
public enum LocalSocket {
  /// Connects, from the local address `source` if it is given; `receiveBytes` is the size of the receive buffer.
  ///
  /// A call that receives fails with EAGAIN after the timeout of tests.
  ///
  /// - Returns: The descriptor, which the caller closes.
  /// - Throws: `POSIXError` if no server listens on `port`.
  public static func connected(
    to port: Int, from source: String? = nil, receiveBytes: Int32? = nil
  ) throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var receiveBytes {
      setsockopt(
        socket, SOL_SOCKET, SO_RCVBUF, &receiveBytes, socklen_t(MemoryLayout<Int32>.size))
    }
    var patience = timeval(tv_sec: Patience.seconds, tv_usec: 0)
    setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let isConnected =
      (source.map { with($0, port: 0) { bind(socket, $0, $1) } } ?? 0) == 0
      && with("127.0.0.1", port: port) { connect(socket, $0, $1) } == 0
    guard isConnected else {
      let reason = errno
      close(socket)
      throw POSIXError(.init(rawValue: reason) ?? .ECONNREFUSED)
    }
    return socket
  }

  private static func with(
    _ host: String, port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
