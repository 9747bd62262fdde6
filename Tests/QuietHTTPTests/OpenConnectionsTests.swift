// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import QuietHTTP

@Suite("Open connections")
struct OpenConnectionsTests {
  /// A connection of a test, which records that it was closed.
  private final class Client: Sendable {
    private let wasClosed = Mutex(false)

    var id: ObjectIdentifier { ObjectIdentifier(self) }
    var isClosed: Bool { wasClosed.withLock { $0 } }

    func close() { wasClosed.withLock { $0 = true } }
  }

  private let connections = OpenConnections(countMax: 3, unreadBytesMax: 100)
  private let clients = (0..<4).map { _ in Client() }

  private var closed: [Int] { clients.indices.filter { clients[$0].isClosed } }

  private func begin(_ number: Int) {
    connections.begin(clients[number].id, close: clients[number].close)
  }

  private func request(_ number: Int, ends: Bool = true) {
    connections.beginRequest(clients[number].id)
    if ends { connections.endRequest(clients[number].id, close: clients[number].close) }
  }

  @Test("The connection that takes the last place closes the one that has been idle longest")
  func oldest() {
    begin(0)
    begin(1)
    request(0)
    #expect(closed.isEmpty)
    begin(2)
    #expect(closed == [1])
    connections.end(clients[1].id)
    begin(3)
    #expect(closed == [0, 1])
  }

  @Test("Connections with requests are not closed; the first one that becomes idle is")
  func busy() {
    for number in 0..<3 {
      begin(number)
      request(number, ends: false)
    }
    #expect(closed.isEmpty)
    #expect(connections.idleCount == 0)
    connections.endRequest(clients[1].id, close: clients[1].close)
    #expect(closed == [1])
  }

  @Test("While a connection closes, requests of others may end: it makes the room that was needed")
  func closing() {
    for number in 0..<3 { begin(number) }
    #expect(closed == [0])
    request(1)
    request(2)
    #expect(closed == [0])
    connections.end(clients[0].id)
    begin(3)
    #expect(closed == [0, 1])
  }

  @Test("A connection whose request begins before it is closed stays, and another one is closed")
  func stays() {
    for number in 0..<3 { begin(number) }
    #expect(closed == [0])
    request(0, ends: false)
    request(1)
    #expect(closed == [0, 2])
  }

  @Test(
    "Unread bytes up to the limit are allowed; above it the oldest connection with any is closed")
  func unread() {
    for number in 0..<2 {
      connections.setUnread(50, clients[number].id, close: clients[number].close)
    }
    #expect(closed.isEmpty)
    connections.setUnread(51, clients[1].id, close: clients[1].close)
    #expect(closed == [0])
    #expect(connections.unreadBytes == 51)
    connections.end(clients[1].id)
    #expect(connections.unreadBytes == 0)
  }
}
