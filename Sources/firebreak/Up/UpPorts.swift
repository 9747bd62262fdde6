import Foundation
import Terminal

/// The ports of a town: its page, the servers and the console, and one for each phone.
struct UpPorts {
  /// The port of the page; 0 for free ports everywhere.
  let first: UInt16

  private static let serverCount = 3

  /// The number of ports of a town.
  static func count(phones: Int) -> Int { 1 + serverCount + phones }

  /// The first port of `serve`.
  var servers: Int { first == 0 ? 0 : Int(first) + 1 }

  /// The port of the phone with this index.
  func phone(_ index: Int) -> Int { first == 0 ? 0 : Int(first) + 1 + Self.serverCount + index }

  /// Checks all ports before anything is started, so that there is one error and nothing to stop.
  ///
  /// - Throws: `CommandFailure` that names the port.
  func requireFree(phones: Int) throws(CommandFailure) {
    guard first > 0 else { return }
    for offset in 0..<Self.count(phones: phones) {
      let port = first + UInt16(offset)
      guard Self.isFree(port) else {
        throw CommandFailure(
          status: .machineFailed,
          message:
            "Port \(port) is in use: stop the program that uses it, or choose other ports with --port."
        )
      }
    }
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
