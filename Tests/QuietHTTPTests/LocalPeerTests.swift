// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing

@testable import QuietHTTP

@Suite("The user of a connection on this machine")
struct LocalPeerTests {
  /// Rows as the kernel of a little-endian machine writes them.
  private static let table = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000   100        0 1 1
       1: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000   100        0 2 1
       2: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 3 1
       3: 0100007F:C002 0100007F:1F90 06 00000000:00000000 00:00000000 00000000     0        0 0 1
    """
  private static let table6 = """
      sl  local_address                         remote_address                        st
       0: 00000000000000000000000001000000:C001 00000000000000000000000001000000:1F90 01 0:0 0:0 0 7 0 1
       1: 0000000000000000FFFF00000100007F:C003 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 8 0 1
    """

  private func user(_ host: String, _ port: Int, in table: String) throws -> UInt32? {
    let endpoints = LocalPeer.Endpoints(
      local: try SocketAddress(ipAddress: host, port: 8_080),
      remote: try SocketAddress(ipAddress: host, port: port))
    return LocalPeer.userID(of: try #require(endpoints), in: Data(table.utf8))
  }

  @Test("The user is that of the client's socket, not of the server's")
  func rows() throws {
    #expect(try user("127.0.0.1", 0xC001, in: Self.table) == 1_000)
    #expect(try user("::1", 0xC001, in: Self.table6) == 7)
    // A client with a socket for both versions of IP.
    #expect(try user("127.0.0.1", 0xC003, in: Self.table6) == 8)
  }

  @Test("Without an established connection, there is no user")
  func none() throws {
    #expect(try user("127.0.0.1", 0xC002, in: Self.table) == nil)
    #expect(try user("127.0.0.1", 0xC004, in: Self.table) == nil)
    #expect(try user("127.0.0.2", 0xC001, in: Self.table) == nil)
    #expect(try user("127.0.0.1", 0xC001, in: "") == nil)
  }
}
