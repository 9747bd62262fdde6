import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

/// Documentation/QuietHTTP.md 2.2, 2.3, 2.6 and 2.7.
@Suite("What one connection may do")
struct ConnectionTests {
  private static let page = "GET /people/a HTTP/1.1\r\nHost: localhost\r\n\r\n"

  @Test("As many connections as the limit are served; one more waits until one of them ends")
  func connections() async throws {
    let echo = EchoServer { $0.connectionsMax = 3 }
    try await echo.running { port async throws in
      let held = try await Wire.aside {
        try (0..<3).map { _ in
          let connection = try WireConnection(port: port)
          #expect(connection.ask(Self.page)?.status == 200)
          return connection
        }
      }
      let late = try await Wire.aside { try WireConnection(port: port) }
      async let answer = Wire.aside { late.ask(Self.page)?.status }
      try await Task.sleep(for: .milliseconds(200))
      // Those that are in go on being served, and the late one has had nothing yet.
      #expect(try await Wire.aside { held[1].ask(Self.page)?.status } == 200)
      #expect(echo.log.lines.count { $0.contains("GET /people") } == 4)
      held[0].close()
      #expect(try await answer == 200)
      for connection in held.dropFirst() + [late] { connection.close() }
    }
  }

  @Test("While all places are taken nobody else is served")
  func full() async throws {
    let echo = EchoServer { $0.connectionsMax = 1 }
    try await echo.running { port async throws in
      let held = try await Wire.aside {
        let connection = try WireConnection(port: port)
        #expect(connection.ask(Self.page)?.status == 200)
        return connection
      }
      async let answer = Post(#"{"word":"hello"}"#).answer(port: port).status
      try await Task.sleep(for: .milliseconds(200))
      #expect(echo.effects.count == 0)
      held.close()
      #expect(try await answer == 200)
      #expect(echo.effects.count == 1)
    }
  }

  /// A server with a second's patience for those who do not take their answers, and much for the idle: the end of
  /// an idle connection would free its place as well, later.
  private func impatientServer(connectionsMax: Int = QuietLimit.connectionsMax) -> EchoServer {
    EchoServer {
      $0.connectionsMax = connectionsMax
      $0.answerSeconds = 1
      $0.idleSeconds = 3_600
    }
  }

  @Test("Who does not read what was asked for is hung up on, and another gets the place")
  func stalled() async throws {
    let echo = impatientServer(connectionsMax: 1)
    try await echo.running { port async throws in
      let deaf = try await Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 4_096)
        #expect(connection.send(Data("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)))
        #expect(connection.receive(atMost: 100)?.isEmpty == false)
        return connection
      }
      // There is one place only, so this answer says that the deaf one has lost it.
      #expect(try await Post(#"{"word":"hello"}"#).answer(port: port).status == 200)
      let rest = try await Wire.aside {
        var count = 0
        while let part = deaf.receive(), !part.isEmpty { count += part.count }
        deaf.close()
        return count
      }
      // No more than it had taken: what waited in the server's system is gone with the connection.
      #expect(rest < 64 << 10)
    }
  }

  @Test("Who reads too little of what waits is hung up on, however steadily")
  func trickle() async throws {
    let echo = impatientServer(connectionsMax: 1)
    try await echo.running { port async throws in
      let other = Counter()
      async let count = Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 4_096)
        defer { connection.close() }
        #expect(connection.send(Data("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)))
        var count = 0
        // Slowly until another has the place, then whatever there still is.
        while let part = connection.receive(atMost: 2_048), !part.isEmpty {
          count += part.count
          if other.count == 0 { usleep(100_000) }
        }
        return count
      }
      // The only place is the slow one's first.
      while !echo.log.lines.contains(where: { $0.contains("/large") }) {
        try await Task.sleep(for: .milliseconds(5))
      }
      do {
        // Without an answer too, or the slow one would go on for half an hour.
        defer { other.add() }
        #expect(try await Post(#"{"word":"hello"}"#).answer(port: port).status == 200)
      }
      #expect(try await count < EchoServer.largeBytes)
    }
  }

  @Test("Who asks again and again for what is small and never reads is hung up on, asking or not")
  func smallAnswers() async throws {
    let echo = impatientServer()
    try await echo.running { port async throws in
      let wasHungUp = try await Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 4_096)
        defer { connection.close() }
        // All the answers together are less than what the server's system takes from it.
        return (0..<400).contains { _ in
          usleep(50_000)
          return !connection.send(Data(Self.page.utf8))
        }
      }
      #expect(wasHungUp)
    }
  }

  @Test("Who reads slowly and steadily gets everything, however often the limit goes by")
  func slowReader() async throws {
    let echo = EchoServer { $0.answerSeconds = 1 }
    try await echo.running { port async throws in
      let count = try await Wire.aside {
        let connection = try WireConnection(port: port, receiveBytes: 64 << 10)
        defer { connection.close() }
        // What is asked for ahead makes more wait in the server, not less.
        let requests = ["keep-alive", "close"].map {
          "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: \($0)\r\n\r\n"
        }
        #expect(connection.send(Data(requests.joined().utf8)))
        var count = 0
        var pauses = 0
        while let part = connection.receive(atMost: 1 << 20), !part.isEmpty {
          count += part.count
          // Half of it with pauses, six limits long in all.
          if count > pauses * (1 << 20), pauses < 30 {
            pauses += 1
            usleep(200_000)
          }
        }
        return count
      }
      #expect(count > 2 * EchoServer.largeBytes)
    }
  }

  /// Whether each of the looks finds that too little is taken.
  private func stalls(_ looks: [(written: Int, taken: Int)]) -> [Bool] {
    var progress = AnswerProgress()
    return looks.map { progress.hasStalled(written: $0.written, taken: $0.taken) }
  }

  @Test("In four looks a peer must take so much of what it is owed, and not a byte less")
  func progress() {
    let least = 64 << 10
    for (taken, isStalled) in [(0, true), (least - 1, true), (least, false), (least + 1, false)] {
      let looks = [0, 0, 0, 0, taken].map { (written: 1 << 20, taken: $0) }
      #expect(stalls(looks) == [false, false, false, false, isStalled])
    }
    // It counts when it was taken: each look ends four others.
    let steps = [0, least, least, least, least, least, 2 * least, 2 * least, 2 * least]
    let found = stalls(steps.map { (written: 1 << 20, taken: $0) })
    #expect(found == [false, false, false, false, false, true, false, false, false])
  }

  @Test("Of less than that all must be taken, be it one byte")
  func littleProgress() {
    for owed in [1, 300, (64 << 10) - 1] {
      for (taken, isStalled) in [(0, true), (owed - 1, true), (owed, false)] {
        let looks = [0, 0, 0, 0, taken].map { (written: owed, taken: $0) }
        #expect(stalls(looks).last == isStalled, "\(owed) \(taken)")
      }
    }
  }

  @Test("Asking for more is not taking more, and what was asked for since is not yet owed")
  func askingOn() {
    // More and more waits, and nothing of it has gone.
    #expect(stalls((1...5).map { (written: $0 * 20_000, taken: 4_000) }).last == true)
    // As much waits each time, and all that was owed has gone.
    #expect(!stalls((1...9).map { (written: $0 * 300, taken: ($0 - 1) * 300) }).contains(true))
    // Much was asked for just now, of which nothing has gone yet; four looks later it is owed.
    let late = [100, 100, 100, 100, 90_100].map { (written: $0, taken: $0 > 100 ? 100 : 0) }
    #expect(stalls(late).last == false)
    #expect(stalls(late + (1...4).map { _ in (written: 90_100, taken: 100) }).last == true)
  }

  @Test("A head that drops in too slowly is not waited for; a pause shorter than the limit is")
  func idle() async throws {
    try await EchoServer { $0.idleSeconds = 1 }.running { port async throws in
      let wasHungUp = try await Wire.aside {
        let connection = try WireConnection(port: port)
        defer { connection.close() }
        #expect(connection.ask(Self.page)?.status == 200)
        usleep(300_000)
        #expect(connection.ask(Self.page)?.status == 200)
        return (0..<100).contains { number in
          usleep(100_000)
          return !connection.send(Data(number == 0 ? "GET /people/".utf8 : "a".utf8))
        }
      }
      #expect(wasHungUp)
    }
  }

  @Test("After a refusal with the body unread the server hangs up on whoever goes on sending")
  func lingers() async throws {
    try await EchoServer().running { port async throws in
      let wasHungUp = try await Wire.aside {
        let connection = try WireConnection(port: port)
        defer { connection.close() }
        var post = Post("")
        post.announced = 1 << 40
        post.headers = ["X-Comment: \(QuietLimit.lingerSeconds) seconds"]
        // Not asked to close: it is the server that ends it.
        let head = String(decoding: post.head, as: UTF8.self)
          .replacing("Connection: close\r\n", with: "")
        #expect(connection.ask(head)?.status == 413)
        return (0..<100).contains { _ in
          usleep(100_000)
          return !connection.send(Data(repeating: 0x20, count: 512))
        }
      }
      #expect(wasHungUp)
    }
  }

  @Test(
    "A request of HTTP/1.0, or one that asks for it, is the last of its connection",
    arguments: [
      "GET /people/a HTTP/1.0\r\n\r\n", "GET /people/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "GET /people/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      "GET /people/a HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
      "GET /people/a HTTP/1.1\r\nHost: a\r\nConnection: TE, close\r\n\r\n",
      "POST /echo HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"
        + #"{"word":"x"}"#,
    ])
  func last(request: String) async throws {
    try await EchoServer { $0.idleSeconds = 3_600 }.running { port async throws in
      let (answer, end) = try await Wire.aside {
        let connection = try WireConnection(port: port)
        defer { connection.close() }
        let answer = connection.ask(request)
        return (answer?.status, connection.receive())
      }
      #expect(answer == 200)
      #expect(end == Data(), "the server has not hung up")
    }
  }

  @Test("Nothing is sent in chunks to a client of HTTP/1.0, which could not read them")
  func noChunks() async throws {
    try await EchoServer().running { port async throws in
      for path in ["/people/a", "/nothing", "/large"] {
        let bytes = try await Wire.exchange(
          [Data("GET \(path) HTTP/1.0\r\n\r\n".utf8)], port: port)
        let answer = try WireAnswer(bytes)
        #expect(answer.headers["transfer-encoding"] == nil)
        #expect(answer.headers["content-length"] == "\(answer.body.count)")
      }
    }
  }
}
