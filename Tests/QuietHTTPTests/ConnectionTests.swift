// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("Connections")
struct ConnectionTests {
  private static let page = "GET /people/a HTTP/1.1\r\nHost: localhost\r\n\r\n"

  @Test("When all connections are taken, the one that has been idle longest is closed")
  func evicted() async throws {
    let echo = EchoServer { $0.connectionsMax = 4 }
    try await echo.running { port async throws in
      let held = try await Wire.aside {
        try (0..<3).map { _ in
          let connection = try WireConnection(port: port)
          #expect(connection.ask(Self.page)?.status == 200)
          return connection
        }
      }
      // The first has been idle longest after this.
      for connection in held.dropFirst() {
        #expect(try await Wire.aside { connection.ask(Self.page)?.status } == 200)
      }
      let late = try await Wire.aside { try WireConnection(port: port) }
      #expect(try await Wire.aside { late.ask(Self.page)?.status } == 200)
      #expect(try await Wire.aside { held[0].receive() } == Data())
      for connection in held.dropFirst() {
        #expect(try await Wire.aside { connection.ask(Self.page)?.status } == 200)
      }
      for connection in held + [late] { connection.close() }
    }
  }

  @Test("A connection with a request in progress is not closed for a new one, which waits")
  func full() async throws {
    let echo = EchoServer { $0.connectionsMax = 1 }
    try await echo.running { port async throws in
      var post = Post(bytes: 20)
      post.headers = ["Expect: 100-continue"]
      let held = try await Wire.aside { [head = post.head] in
        let connection = try WireConnection(port: port)
        #expect(connection.send(head))
        // The route reads the body: the connection is not idle.
        #expect(connection.receive()?.isEmpty == false)
        return connection
      }
      async let response = Post(#"{"word":"hello"}"#).response(port: port).status
      try await Patience.until {
        Self.waitingConnections(port: port) == 1 || echo.effects.count > 0
      }
      #expect(Self.waitingConnections(port: port) == 1)
      #expect(echo.effects.count == 0)
      held.close()
      #expect(try await response == 200)
      #expect(echo.effects.count == 1)
    }
  }

  @Test(
    "A server and the same one with TLS have one limit, and a connection of one that ends lets the other go on"
  )
  func together() async throws {
    let echo = EchoServer { $0.connectionsMax = 1 }
    let secured = echo.server.secured(by: try TestIdentity.make(), host: "127.0.0.1", port: 0)
    try await echo.running { port async throws in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { do { try await secured.run() } catch is CancellationError {} }
        let securedPort = await secured.boundPort
        var post = Post(bytes: 20)
        post.headers = ["Expect: 100-continue"]
        let held = try await Wire.aside { [head = post.head] in
          let connection = try WireConnection(port: port)
          #expect(connection.send(head))
          #expect(connection.receive()?.isEmpty == false)
          return connection
        }
        // No handshake: a server that accepts the connection rejects it at once.
        let connect: @Sendable () throws -> WireConnection = {
          let connection = try WireConnection(port: securedPort)
          #expect(connection.send(Data(Self.page.utf8)))
          return connection
        }
        // The listener has waited for this connection since before the limit was reached.
        let first = try await Wire.aside(connect)
        #expect(try await Wire.aside { first.receive() } != nil)
        first.close()
        let late = try await Wire.aside(connect)
        try await Patience.until { Self.waitingConnections(port: securedPort) == 1 }
        held.close()
        #expect(try await Wire.aside { late.receive() } != nil)
        #expect(Self.waitingConnections(port: securedPort) == 0)
        late.close()
        group.cancelAll()
      }
    }
  }

  @Test("Connections are accepted below the limit, and again when one at the limit has ended")
  func accepted() {
    let accepted = AcceptedConnections(countMax: 2)
    accepted.connectionOpened()
    #expect(accepted.isAcceptingNewConnections())
    accepted.connectionOpened()
    #expect(!accepted.isAcceptingNewConnections() && accepted.count == 2)
    accepted.connectionClosed()
    #expect(accepted.isAcceptingNewConnections() && accepted.count == 1)
  }

  /// The connections to a port that wait in the system's queue. For a listening socket, Linux shows their number in
  /// place of the bytes to read.
  private static func waitingConnections(port: Int) -> Int {
    let table = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
    let (place, listening) = (String(format: ":%04X", port), "0A")
    let rows = table.split(separator: "\n").map { $0.split(separator: " ") }
    let row = rows.first { $0.count > 4 && $0[1].hasSuffix(place) && $0[3] == listening }
    return row?[4].split(separator: ":").last.flatMap { Int($0, radix: 16) } ?? 0
  }

  /// A server with a timeout of one second for slow readers.
  private func impatientServer(connectionsMax: Int = QuietLimit.connectionsMax) -> EchoServer {
    EchoServer {
      $0.connectionsMax = connectionsMax
      $0.responseSeconds = 1
    }
  }

  @Test("A client that does not read its response is disconnected, and another one is served")
  func stalled() async throws {
    let echo = impatientServer(connectionsMax: 1)
    try await echo.running { port async throws in
      let stalledClient = try await Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 4_096)
        #expect(connection.send(Data("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)))
        #expect(connection.receive(atMost: 100)?.isEmpty == false)
        return connection
      }
      // Only one connection is allowed, so this response shows that the stalled one was closed.
      #expect(try await Post(#"{"word":"hello"}"#).response(port: port).status == 200)
      let rest = try await Wire.aside {
        var count = 0
        while let part = stalledClient.receive(), !part.isEmpty { count += part.count }
        stalledClient.close()
        return count
      }
      // Pending data in the system of the server is dropped with the connection.
      #expect(rest < 64 << 10)
    }
  }

  @Test("A client that reads too slowly is disconnected")
  func trickle() async throws {
    let echo = impatientServer(connectionsMax: 1)
    try await echo.running { port async throws in
      let other = Counter()
      async let count = Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 4_096)
        defer { connection.close() }
        #expect(connection.send(Data("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)))
        var count = 0
        // Reads slowly until the other client is served, then reads the rest.
        while let part = connection.receive(atMost: 2_048), !part.isEmpty {
          count += part.count
          if other.count == 0 { usleep(100_000) }
        }
        return count
      }
      // The slow client gets the only connection first.
      try await Patience.until { echo.log.lines.contains { $0.contains("/large") } }
      do {
        // Also after a failure, or the slow client would read for half an hour.
        defer { other.add() }
        #expect(try await Post(#"{"word":"hello"}"#).response(port: port).status == 200)
      }
      #expect(try await count < EchoServer.largeBytes)
    }
  }

  @Test("A client that requests small responses and never reads is disconnected")
  func smallResponses() async throws {
    let echo = impatientServer()
    try await echo.running { port async throws in
      let wasClosed = try await Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 4_096)
        defer { connection.close() }
        // All responses of a minute fit in the buffers of the system.
        return connection.isClosed(whileSending: Data(Self.page.utf8), every: 50_000)
      }
      #expect(wasClosed)
    }
  }

  @Test("A client that reads slowly but fast enough gets the whole response")
  func slowReader() async throws {
    let limit = 2
    // On a busy machine the client may make a pause that is too long.
    try await Patience.until {
      let (count, longestPause) = try await readWithPauses(responseSeconds: limit)
      let isComplete = count > 2 * EchoServer.largeBytes
      let isTooSlow = longestPause >= .seconds(limit)
      #expect(isComplete || isTooSlow)
      return isComplete || !isTooSlow
    }
  }

  /// Reads two large responses, a part of them with pauses, in all more than the timeout. Returns the bytes and the
  /// longest time between two reads.
  private func readWithPauses(responseSeconds: Int) async throws -> (Int, Duration) {
    var read = (0, Duration.zero)
    try await EchoServer { $0.responseSeconds = responseSeconds }.running { port async throws in
      read = try await Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 64 << 10)
        defer { connection.close() }
        // The second request makes more data pending.
        let requests = ["keep-alive", "close"].map {
          "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: \($0)\r\n\r\n"
        }
        #expect(connection.send(Data(requests.joined().utf8)))
        var (count, pauses, longest) = (0, 0, Duration.zero)
        var last = ContinuousClock.now
        while let part = connection.receive(atMost: 1 << 20), !part.isEmpty {
          let now = ContinuousClock.now
          (longest, last) = (max(longest, now - last), now)
          count += part.count
          if count > pauses * (1 << 20), pauses < 15 {
            pauses += 1
            usleep(200_000)
          }
        }
        return (count, longest)
      }
    }
    return read
  }

  /// The results of `hasStalled` at each check.
  private func stalls(_ checks: [(written: Int, taken: Int)]) -> [Bool] {
    var progress = ReadProgress()
    return checks.map { progress.hasStalled(written: $0.written, acknowledged: $0.taken) }
  }

  @Test("A client stalls if it acknowledges less than the minimum in four checks")
  func progress() {
    let least = 64 << 10
    for (taken, isStalled) in [(0, true), (least - 1, true), (least, false), (least + 1, false)] {
      let checks = [0, 0, 0, 0, taken].map { (written: 1 << 20, taken: $0) }
      #expect(stalls(checks) == [false, false, false, false, isStalled])
    }
    // Each check looks back over four intervals.
    let steps = [0, least, least, least, least, least, 2 * least, 2 * least, 2 * least]
    let found = stalls(steps.map { (written: 1 << 20, taken: $0) })
    #expect(found == [false, false, false, false, false, true, false, false, false])
  }

  @Test("A client with less pending data stalls unless it acknowledges all of it")
  func littlePending() {
    for pending in [1, 300, (64 << 10) - 1] {
      for (taken, isStalled) in [(0, true), (pending - 1, true), (pending, false)] {
        let checks = [0, 0, 0, 0, taken].map { (written: pending, taken: $0) }
        #expect(stalls(checks).last == isStalled, "\(pending) \(taken)")
      }
    }
  }

  @Test("Responses written since the first check do not count")
  func laterResponses() {
    // More and more is pending, and nothing is acknowledged.
    #expect(stalls((1...5).map { (written: $0 * 20_000, taken: 4_000) }).last == true)
    // The same amount is pending each time, and everything pending before was acknowledged.
    #expect(!stalls((1...9).map { (written: $0 * 300, taken: ($0 - 1) * 300) }).contains(true))
    // A large response was written just now; after four more checks it counts.
    let late = [100, 100, 100, 100, 90_100].map { (written: $0, taken: $0 > 100 ? 100 : 0) }
    #expect(stalls(late).last == false)
    #expect(stalls(late + (1...4).map { _ in (written: 90_100, taken: 100) }).last == true)
  }

  @Test("A pause between requests that is shorter than the idle timeout keeps the connection")
  func pause() async throws {
    try await EchoServer { $0.idleSeconds = 60 }.running { port async throws in
      let statuses = try await Wire.aside {
        let connection = try WireConnection(port: port)
        defer { connection.close() }
        return (0..<3).map { _ in
          usleep(300_000)
          return connection.ask(Self.page)?.status
        }
      }
      #expect(statuses == [200, 200, 200])
    }
  }

  @Test("The connection of a request head that arrives too slowly is closed")
  func idle() async throws {
    try await EchoServer { $0.idleSeconds = 1 }.running { port async throws in
      let wasClosed = try await Wire.aside {
        let connection = try WireConnection(port: port)
        defer { connection.close() }
        _ = connection.send(Data("GET /people/".utf8))
        return connection.isClosed(whileSending: Data("a".utf8), every: 100_000)
      }
      #expect(wasClosed)
    }
  }

  @Test("After an error with an unread body the server closes the connection")
  func lingers() async throws {
    try await EchoServer().running { port async throws in
      let wasClosed = try await Wire.aside {
        let connection = try WireConnection(port: port)
        defer { connection.close() }
        var post = Post("")
        post.announced = 1 << 40
        post.headers = ["X-Comment: \(QuietLimit.lingerSeconds) seconds"]
        // Without `Connection: close`, so that the server decides to close.
        let head = String(decoding: post.head, as: UTF8.self)
          .replacing("Connection: close\r\n", with: "")
        #expect(connection.ask(head)?.status == 413)
        return connection.isClosed(
          whileSending: Data(repeating: 0x20, count: 512), every: 100_000)
      }
      #expect(wasClosed)
    }
  }

  @Test(
    "A connection is closed after a request of HTTP/1.0 or with Connection: close",
    arguments: [
      "GET /people/a HTTP/1.0\r\n\r\n", "GET /people/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "GET /people/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      "GET /people/a HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
      "GET /people/a HTTP/1.1\r\nHost: a\r\nConnection: TE, close\r\n\r\n",
      "POST /echo HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"
        + #"{"word":"x"}"#,
    ])
  func last(request: String) async throws {
    try await EchoServer().running { port async throws in
      let (response, end) = try await Wire.aside {
        let connection = try WireConnection(port: port)
        defer { connection.close() }
        let response = connection.ask(request)
        return (response?.status, connection.receive())
      }
      #expect(response == 200)
      #expect(end == Data(), "the server did not close the connection")
    }
  }

  @Test("Responses to HTTP/1.0 clients are not chunked")
  func noChunks() async throws {
    try await EchoServer().running { port async throws in
      for path in ["/people/a", "/nothing", "/large"] {
        let bytes = try await Wire.exchange(
          [Data("GET \(path) HTTP/1.0\r\n\r\n".utf8)], port: port)
        let response = try WireResponse(bytes)
        #expect(response.headers["transfer-encoding"] == nil)
        #expect(response.headers["content-length"] == "\(response.body.count)")
      }
    }
  }
}
