// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("The users of open connections")
struct PeerUsersTests {
  private final class Channel {}

  /// Connections whose closing the test decides.
  private final class Closings {
    var actions: [@Sendable () -> Void] = []
  }

  @Test(
    "The user of a connection is looked for until it is known, and again for the next connection")
  func known() {
    let (users, closings) = (PeerUsers(), Closings())
    let (channel, other) = (Channel(), Channel())
    var searches = 0
    func user(of channel: Channel, isFound found: UInt32?) -> UInt32? {
      users.user(of: ObjectIdentifier(channel)) {
        searches += 1
        return found
      } atClose: {
        closings.actions.append($0)
      }
    }
    #expect(user(of: channel, isFound: nil) == nil)
    #expect(users.count == 0 && closings.actions.isEmpty)
    #expect(user(of: channel, isFound: 1_000) == 1_000)
    #expect(searches == 2)
    // The socket is the same, so its user is not looked up again.
    #expect(user(of: channel, isFound: 7) == 1_000)
    #expect(searches == 2)
    #expect(user(of: other, isFound: 8) == 8)
    #expect(users.count == 2 && closings.actions.count == 2)
    // The identity of a closed connection may be that of another user's connection.
    closings.actions[0]()
    #expect(users.count == 1)
    #expect(user(of: channel, isFound: 9) == 9)
    #expect(user(of: other, isFound: nil) == 8)
  }

  @Test(
    "Each request of a connection has the user of its client, who is forgotten with the connection")
  func requests() async throws {
    let page = "GET /user HTTP/1.1\r\nHost: localhost\r\n\r\n"
    try await EchoServer().running { port async throws in
      for _ in 0..<2 {
        let bodies = try await Wire.aside {
          let connection = try WireConnection(port: port)
          defer { connection.close() }
          return (0..<3).map { _ in connection.ask(page)?.body }
        }
        #expect(bodies == Array(repeating: Data("\(getuid())".utf8), count: 3))
      }
      // Only this test asks a server for users.
      try await Patience.until { PeerUsers.ofProcess.count == 0 }
      #expect(PeerUsers.ofProcess.count == 0)
    }
  }
}
