// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServerOperations
import Terminal

/// The listening sockets that systemd passes to the servers (`sd_listen_fds`), by the names in `FileDescriptorName=`.
struct ServiceSockets: Sendable {
  /// The first descriptor that systemd passes.
  private static let firstDescriptor: Int32 = 3
  /// The most sockets: of each server, with TLS too, and of the metrics.
  private static let countMax = 2 * ServerName.allCases.count + 1
  private static let metricsName = "metrics"
  private static let tlsSuffix = "-tls"

  private let sockets: [String: InheritedSocket]

  /// The socket of the metrics.
  var metrics: InheritedSocket? { sockets[Self.metricsName] }

  /// The socket of a server; nil if it binds one itself.
  subscript(server: ServerName) -> InheritedSocket? { sockets[server.rawValue] }

  /// The socket on which a server listens with TLS.
  func secured(_ server: ServerName) -> InheritedSocket? {
    sockets[server.rawValue + Self.tlsSuffix]
  }

  /// Reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`. Sockets for another process are ignored.
  ///
  /// - Throws: `CommandFailure` if a socket has no name of a server, or cannot be used.
  init(environment: [String: String], processIdentifier: Int32) throws {
    guard environment["LISTEN_PID"] == "\(processIdentifier)", let text = environment["LISTEN_FDS"]
    else {
      sockets = [:]
      return
    }
    guard let count = Int(text), (0...Self.countMax).contains(count) else {
      throw CommandFailure.badInput(
        "LISTEN_FDS is \(text.printable), but the servers take 0 to \(Self.countMax) sockets of systemd: correct the"
          + " socket units.")
    }
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(
      separator: ":", omittingEmptySubsequences: false
    ).map(String.init)
    guard names.count <= max(count, 1) else {
      throw CommandFailure.badInput(
        "LISTEN_FDNAMES has \(names.count) names, but systemd passes \(count) sockets: correct the socket units."
      )
    }
    var sockets: [String: InheritedSocket] = [:]
    for index in 0..<count {
      let name = index < names.count ? names[index] : ""
      guard Self.names.contains(name) else {
        throw CommandFailure.badInput(
          "systemd passes a socket with the name \(name.isEmpty ? "\"\"" : name.printable): set FileDescriptorName= in"
            + " its unit to one of \(Self.names.joined(separator: ", ")).")
      }
      let socket = try Self.socket(Self.firstDescriptor + Int32(index), name)
      guard sockets.updateValue(socket, forKey: name) == nil else {
        throw CommandFailure.badInput(
          "systemd passes several sockets with the name \(name): keep one ListenStream= in its unit."
        )
      }
    }
    self.sockets = sockets
  }

  private static var names: [String] {
    ServerName.allCases.map(\.rawValue) + [metricsName]
      + ServerName.allCases.map { $0.rawValue + tlsSuffix }
  }

  private static func socket(_ descriptor: Int32, _ name: String) throws -> InheritedSocket {
    do throws(InheritedSocket.Fault) {
      return try InheritedSocket(descriptor: descriptor)
    } catch {
      throw CommandFailure.badInput(
        "The socket \(name) of systemd does not listen on an address of IPv4 or IPv6: use ListenStream= with a port"
          + " and without Accept=yes in its unit.")
    }
  }

  /// Throws if a socket is of a server that does not run in this process, or that would not use it.
  func check(serves: (ServerName) -> Bool, hasTLS: Bool) throws {
    for server in ServerName.allCases {
      let own = [self[server], secured(server)].compactMap(\.self)
      guard own.isEmpty || serves(server) else {
        throw CommandFailure.badInput(
          "systemd passes a socket of the server \(server.rawValue), which --only leaves out: remove it from the units."
        )
      }
      guard secured(server) == nil || hasTLS else {
        throw CommandFailure.badInput(
          "The socket \(server.rawValue)\(Self.tlsSuffix) of systemd needs --tls-port, --tls-certificate and --tls-key:"
            + " name them, or remove the socket.")
      }
    }
  }

  /// Lets the servers use the sockets.
  func use() { InheritedSockets.use(Array(sockets.values)) }
}
