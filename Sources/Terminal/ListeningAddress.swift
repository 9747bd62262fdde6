// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An address and TCP port on which a command is going to listen.
///
/// It is checked before anything is created, so that a failed start leaves nothing.
package struct ListeningAddress {
  package let host: String
  /// The port; 0 for a free one.
  package let port: Int
  /// The option with which the user chooses another port.
  let option: String
  /// The option with which the user chooses another address.
  let hostOption: String

  package init(host: String, port: Int, option: String = "--port", hostOption: String = "--host") {
    self.host = host
    self.port = port
    self.option = option
    self.hostOption = hostOption
  }

  /// The addresses of a server for this machine only. Without IPv6 the second one is not used.
  package static func loopback(port: Int, option: String = "--port") -> [ListeningAddress] {
    ["127.0.0.1", "::1"].map { ListeningAddress(host: $0, port: port, option: option) }
  }

  /// - Throws: `CommandFailure` that names the port and the cause.
  package func requireAvailable() throws(CommandFailure) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0, let first = list else {
      throw unknownHost
    }
    defer { freeaddrinfo(list) }
    let code = Self.bindError(first.pointee)
    if code == EADDRNOTAVAIL, first.pointee.ai_family == AF_INET6, host == "::1" { return }
    if code != 0 { throw failure(code) }
  }

  /// The error of a server that could not listen, by the code of the system.
  package func failure(_ code: Int32) -> CommandFailure {
    switch code {
    case EADDRINUSE:
      CommandFailure.machineFailed(
        "Port \(port) is in use: stop the program that uses it, or choose another with"
          + " \(option).")
    case EACCES, EPERM:
      .badInput(
        "Port \(port) is reserved for root: choose one from 1024 with \(option), and forward to it."
      )
    case EADDRNOTAVAIL: unknownHost
    default:
      CommandFailure.machineFailed(
        "Port \(port) of \(host.printable) cannot be opened"
          + " (\(String(cString: strerror(code)).lowercased())): choose another with \(option).")
    }
  }

  private var unknownHost: CommandFailure {
    CommandFailure.machineFailed(
      "The host \(host.printable) is not an address of this machine: choose another with"
        + " \(hostOption).")
  }

  /// The code with which the system refuses to bind the address; 0 if it does not.
  private static func bindError(_ info: addrinfo) -> Int32 {
    let descriptor = socket(info.ai_family, info.ai_socktype | Int32(O_CLOEXEC), info.ai_protocol)
    // Without this family of addresses the server reports the error itself.
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    return bind(descriptor, info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno
  }
}
