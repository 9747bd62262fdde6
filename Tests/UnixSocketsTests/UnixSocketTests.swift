// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import UnixSockets

@Suite("Unix domain sockets")
struct UnixSocketTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("socket").path
  }

  private var patience: ContinuousClock.Instant { .now + .seconds(Patience.seconds) }

  @Test("A transfer ends at its deadline")
  func deadline() async throws {
    let listener = try UnixListener(at: path)
    defer { listener.stop() }
    let client = try UnixSocket.connected(to: .file(path))
    #expect(throws: UnixSocketError.timedOut) {
      try client.receive(atMost: 1, before: .now + .milliseconds(20))
    }
  }

  @Test("The bytes of one side reach the other, which is a process of the same user")
  func transfer() async throws {
    let listener = try UnixListener(at: path)
    defer { listener.stop() }
    let client = try UnixSocket.connected(to: .file(path))
    var connections = listener.connections.makeAsyncIterator()
    let server = try #require(await connections.next())
    #expect(client.peerUser == geteuid() && server.peerUser == geteuid() && !server.hasInput)
    try client.send([1, 2, 3], before: patience)
    #expect(try server.receive(exactly: 3, before: patience) == [1, 2, 3])
    try client.send([4], before: patience)
    try await Patience.until { server.hasInput }
    #expect(try server.receive(atMost: 10, before: patience) == [4])
  }

  @Test("The end of one side is the end of the other: no bytes, or an error within a message")
  func end() async throws {
    let listener = try UnixListener(at: path)
    defer { listener.stop() }
    var client: UnixSocket? = try UnixSocket.connected(to: .file(path))
    var connections = listener.connections.makeAsyncIterator()
    let server = try #require(await connections.next())
    try client?.send([1], before: patience)
    client = nil
    #expect(throws: UnixSocketError.closed) { try server.receive(exactly: 2, before: patience) }
    #expect(try server.receive(atMost: 1, before: patience) == [])
  }

  @Test("A removed or replaced file is made again, each time; an unchanged one stays")
  func restored() async throws {
    let listener = try UnixListener(at: path)
    #expect(try !listener.restore())
    var connections = listener.connections.makeAsyncIterator()
    for isReplaced in [false, true] {
      try FileManager.default.removeItem(atPath: path)
      if isReplaced { try Data().write(to: folder.path("socket")) }
      #expect(try listener.restore())
      #expect(try !listener.restore())
      let client = try UnixSocket.connected(to: .file(path))
      #expect(await connections.next() != nil)
      #expect(client.peerUser == geteuid())
    }
    listener.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(throws: UnixSocketError.noListener) { try UnixSocket.connected(to: .file(path)) }
  }

  @Test("A listener that stops leaves the file of another process")
  func replaced() throws {
    let listener = try UnixListener(at: path)
    try FileManager.default.removeItem(atPath: path)
    let other = try UnixListener(at: path)
    listener.stop()
    #expect(try UnixSocket.connected(to: .file(path)).peerUser == geteuid())
    other.stop()
  }

  @Test("An abstract name is an address without a file")
  func abstract() throws {
    let name = Array("firebreak-\(UUID())".utf8)
    #expect(throws: UnixSocketError.noListener) {
      try UnixSocket.connected(to: .abstract(name))
    }
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The first byte is 0: the name is not a path.
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name) }
    let size = socklen_t(MemoryLayout.size(ofValue: address.sun_family) + 1 + name.count)
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) == 0 }
    }
    #expect(isBound && listen(listener, 1) == 0)
    #expect(try UnixSocket.connected(to: .abstract(name)).peerUser == geteuid())
  }
}
