// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds ports on the loopback interface for programs that cannot choose one themselves.
public enum UnusedPort {
  /// The ports below those that Linux gives to sockets without one, so that none of these takes the port before the
  /// program listens, or while it is restarted.
  private static let range = 20_000..<32_000
  private static let triesMax = 100

  /// Returns a port that no program uses.
  public static func find() throws -> Int {
    for _ in 0..<triesMax {
      let port = Int.random(in: range)
      if isUnused(port) { return port }
    }
    throw Failure(description: "no unused port")
  }

  private static func isUnused(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
