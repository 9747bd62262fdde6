import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle
import TestSupport
import Testing
import World

@Suite("A server's life")
struct QuietServerTests {
  @Test("A server told to stop answers the request in progress, then ends")
  func gracefulShutdown() async throws {
    let echo = EchoServer()
    let services = ServiceGroup(
      configuration: .init(services: [echo.server], logger: Logger(label: "test")))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await services.run() }
      let port = await echo.server.boundPort
      async let answer = Post(#"{"word":"slow"}"#).answer(port: port)
      while echo.effects.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
      await services.triggerGracefulShutdown()
      #expect(try await answer.json["word"] == "slow")
      try await group.waitForAll()
      await #expect(throws: (any Error).self) {
        try await Post(#"{"word":"late"}"#).answer(port: port)
      }
    }
  }

  @Test("A request that never ends holds up the stop for the grace and no longer")
  func boundedShutdown() async throws {
    let echo = EchoServer()
    let services = ServiceGroup(
      configuration: .init(services: [echo.server], logger: Logger(label: "test")))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try? await services.run() }
      let port = await echo.server.boundPort
      async let answer = try? Wire.exchange([Post(#"{"word":"never"}"#).head], port: port)
      async let other = try? Post(#"{"word":"never"}"#).answer(port: port)
      while echo.effects.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
      let start = ContinuousClock.now
      await services.triggerGracefulShutdown()
      try await group.waitForAll()
      #expect(ContinuousClock.now - start >= .seconds(QuietLimit.shutdownSeconds))
      _ = await (answer, other)
    }
  }

  @Test("A port that is taken ends the server with an error, and nobody waits for it for ever")
  func portTaken() async throws {
    try await EchoServer().running { port async throws in
      let second = QuietServer(
        router: Router(context: QuietContext.self), host: "127.0.0.1", port: port,
        logger: Logger(label: "test"))
      await #expect(throws: (any Error).self) { try await second.run() }
      #expect(await second.boundPort == 0)
    }
  }

  @Test(
    "A head with as many headers as the limit is taken, one with one more is not",
    arguments: [-1, 0, 1])
  func headerCount(offset: Int) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      let own = post.headerLines.count
      post.headers = Array(
        repeating: "X-Filler: x", count: QuietLimit.headersMax + offset - own)
      try await expect(post, isTaken: offset <= 0, port: port, echo)
    }
  }

  @Test(
    "A head with as many bytes as the limit is taken, one with one more is not",
    arguments: [-1, 0, 1])
  func headerBytes(offset: Int) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      // The path counts as well; what stands between a name and its value does not.
      let own = post.headerLines.map { $0.utf8.count - 2 }.reduce(post.path.utf8.count, +)
      let room = QuietLimit.headerBytesMax + offset - own - "X-Filler".utf8.count
      post.headers = ["X-Filler: " + String(repeating: "x", count: room)]
      try await expect(post, isTaken: offset <= 0, port: port, echo)
    }
  }

  private func expect(
    _ post: Post, isTaken: Bool, port: Int, _ echo: EchoServer
  ) async throws {
    let status = try? await post.answer(port: port).status
    #expect(isTaken ? status == 200 : (status == nil || status == 400))
    #expect(echo.effects.count == (isTaken ? 1 : 0))
  }

  @Test("The log holds one line a request, and no address, path, query, body or header of it")
  func logIsQuiet() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      _ = try await Post(#"{"word":"secret-word"}"#).answer(port: port)
      let get = """
        GET /people/secret-name?secret=query HTTP/1.1\r\nHost: localhost\r\n\
        X-Header: secret-header\r\nConnection: close\r\n\r\n
        """
      #expect(try await WireAnswer(Wire.exchange([Data(get.utf8)], port: port)).status == 200)
    }
    let lines = echo.log.lines
    #expect(lines.contains { $0.contains("POST /echo 200") })
    #expect(lines.contains { $0.contains("GET /people/{name} 200") })
    let requests = lines.filter { !$0.contains("listening on") }
    for told in ["secret", "127.0.0.1", "::1"] {
      #expect(!requests.contains { $0.contains(told) }, "the log tells \(told)")
    }
  }
}
