import Foundation
import NIOCore

extension QuietContext {
  /// The user whose process has opened this connection; nil if it came from another machine, or the system does
  /// not report it.
  ///
  /// This reveals the user and not the address.
  package var peerUserID: UInt32? { connection.endpoints.flatMap(LocalPeer.userID) }

  /// The port of this server to which the client has connected.
  package var serverPort: Int? { connection.endpoints?.local.port }
}

/// The owner of the other end of a connection on this machine, according to the kernel's tables of sockets.
enum LocalPeer {
  /// The two ends of a connection, as this process sees them.
  struct Endpoints: Sendable {
    let local: SocketAddress
    let remote: SocketAddress

    init?(local: SocketAddress?, remote: SocketAddress?) {
      guard let local, let remote else { return nil }
      self.local = local
      self.remote = remote
    }
  }

  private static let tables = ["/proc/net/tcp", "/proc/net/tcp6"]

  static func userID(of endpoints: Endpoints) -> UInt32? {
    // A table is read in several steps, between which rows may move.
    for _ in 0..<QuietLimit.socketTableReads {
      for path in tables {
        guard let file = FileHandle(forReadingAtPath: path) else { continue }
        defer { try? file.close() }
        guard let table = try? file.readToEnd() else { continue }
        if let user = userID(of: endpoints, in: table) { return user }
      }
    }
    return nil
  }

  /// The user in the row of `table` (proc_pid_net(5)) for the client's socket: its local end is our remote one.
  ///
  /// Only an established connection counts: the kernel names user 0 for sockets that their process has closed.
  static func userID(of endpoints: Endpoints, in table: Data) -> UInt32? {
    let (clients, servers) = (names(of: endpoints.remote), names(of: endpoints.local))
    // A table can have thousands of rows: only the one that is found is split into fields.
    for (client, server) in zip(clients, servers) {
      let start = Data(" \(client) \(server) \(established) ".utf8)
      guard let row = table.range(of: start) else { continue }
      let rest = String(decoding: table[row.upperBound...].prefix { $0 != lineFeed }, as: UTF8.self)
      // The fields after the state: the queues, the timer, the retransmits, the user.
      let fields = rest.split(separator: " ")
      return fields.count > 3 ? UInt32(fields[3]) : nil
    }
    return nil
  }

  private static let established = "01"
  private static let lineFeed = UInt8(ascii: "\n")

  /// The names of `address` in the tables. The client of an IPv4 connection may use a socket of IPv6.
  private static func names(of address: SocketAddress) -> [String] {
    guard let bytes = NumericAddress(address)?.bytes, let port = address.port else { return [] }
    let suffix = ":" + hex(UInt32(port), digits: 4)
    let ip = words(bytes).map { hex($0, digits: 8) }.joined()
    guard bytes.count == 4 else { return [ip + suffix] }
    let mapping = words(NumericAddress.mapped).map { hex($0, digits: 8) }.joined()
    return [ip + suffix, mapping + ip + suffix]
  }

  /// The words of an address in memory; the tables show each as a number of this machine.
  private static func words(_ bytes: [UInt8]) -> [UInt32] {
    bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
  }

  private static func hex(_ number: UInt32, digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
