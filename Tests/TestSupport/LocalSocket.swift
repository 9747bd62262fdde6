import Foundation

/// A TCP connection to a server on this machine, as the system has it: for tests that no HTTP library would do
/// for.
public enum LocalSocket {
  /// Connects; `receiveBytes` bounds what the system takes before anybody reads.
  ///
  /// - Returns: The descriptor, which the caller closes.
  /// - Throws: `POSIXError` where nobody listens on `port`.
  public static func connected(to port: Int, receiveBytes: Int32? = nil) throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
      close(socket)
      throw POSIXError(.init(rawValue: reason) ?? .ECONNREFUSED)
    }
    return socket
  }
}
