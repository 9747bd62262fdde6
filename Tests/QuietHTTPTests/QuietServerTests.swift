// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import StrictJSON
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Servers")
struct QuietServerTests {
  @Test("A graceful shutdown finishes the request in progress")
  func gracefulShutdown() async throws {
    let isFinished = try await Patience.succeeds(within: QuietLimit.shutdownSeconds) {
      try await finishesRequest()
    }
    #expect(isFinished)
  }

  /// True if a request that is in progress at the shutdown gets its complete response.
  private func finishesRequest() async throws -> Bool {
    let echo = EchoServer()
    let services = ServiceGroup(
      configuration: .init(services: [echo.server], logger: Logger(label: "test")))
    return try await withThrowingTaskGroup(of: Void.self, returning: Bool.self) { group in
      group.addTask { try await services.run() }
      let port = await echo.server.boundPort
      async let response = try? Post(#"{"word":"held"}"#).response(port: port)
      try await Patience.until { echo.effects.count > 0 }
      await services.triggerGracefulShutdown()
      // The shutdown has begun before the request ends.
      await echo.server.waitUntilClosed()
      echo.gate.open()
      let word = await response?.json["word"]
      try await group.waitForAll()
      await #expect(throws: (any Error).self) {
        try await Post(#"{"word":"late"}"#).response(port: port)
      }
      return word == "held"
    }
  }

  @Test("A request that never ends delays the shutdown by the grace period only")
  func boundedShutdown() async throws {
    let echo = EchoServer()
    let services = ServiceGroup(
      configuration: .init(services: [echo.server], logger: Logger(label: "test")))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try? await services.run() }
      let port = await echo.server.boundPort
      async let half = try? Wire.exchange([Post(#"{"word":"held"}"#).head], port: port)
      async let response = try? Post(#"{"word":"held"}"#).response(port: port)
      try await Patience.until { echo.effects.count > 0 }
      #expect(echo.effects.count == 1)
      let start = ContinuousClock.now
      await services.triggerGracefulShutdown()
      try await group.waitForAll()
      // A busy machine makes this time longer, never shorter.
      #expect(ContinuousClock.now - start >= .seconds(QuietLimit.shutdownSeconds))
      // The gate is still closed. A server without the limit would wait until the request has given up waiting.
      let status = await response?.status
      #expect(status != 200)
      _ = await half
    }
  }

  @Test("At shutdown a half-sent body is cut off while a complete request can still be finished")
  func halfSent() async throws {
    let isCutOff = try await Patience.succeeds(within: QuietLimit.shutdownSeconds) {
      try await cutsOffHalfSentBody()
    }
    #expect(isCutOff)
  }

  /// True if a half-sent body is cut off at the shutdown, and a request that ends later gets its complete response.
  private func cutsOffHalfSentBody() async throws -> Bool {
    let echo = EchoServer()
    let services = ServiceGroup(
      configuration: .init(services: [echo.server], logger: Logger(label: "test")))
    return try await withThrowingTaskGroup(of: Void.self, returning: Bool.self) { group in
      group.addTask { try? await services.run() }
      let port = await echo.server.boundPort
      async let response = try? Post(#"{"word":"held"}"#).response(port: port)
      let half = try await Wire.aside { try halfSentRequest(port: port) }
      try await Patience.until { echo.effects.count > 0 }
      await services.triggerGracefulShutdown()
      let end = try await Wire.aside { half.receive() }
      // The end of the grace period would have closed the connection too, but canceled the held request with it.
      echo.gate.open()
      let word = await response?.json["word"]
      half.close()
      try await group.waitForAll()
      return end == Data() && word == "held"
    }
  }

  @Test("At shutdown the rest of a half-sent body is still accepted for a moment")
  func completedBody() async throws {
    let isAnswered = try await Patience.succeeds(within: QuietLimit.unfinishedRequestSeconds) {
      try await answersCompletedBody()
    }
    #expect(isAnswered)
  }

  /// True if a request whose body is completed after the shutdown has begun gets its response.
  private func answersCompletedBody() async throws -> Bool {
    let echo = EchoServer()
    let services = ServiceGroup(
      configuration: .init(services: [echo.server], logger: Logger(label: "test")))
    return try await withThrowingTaskGroup(of: Void.self, returning: Bool.self) { group in
      group.addTask { try? await services.run() }
      let port = await echo.server.boundPort
      let half = try await Wire.aside { try halfSentRequest(port: port) }
      await services.triggerGracefulShutdown()
      await echo.server.waitUntilClosed()
      let response = try await Wire.aside {
        defer { half.close() }
        return half.send(Self.halfSentPost.body.dropFirst(50)) ? half.receive() : nil
      }
      try await group.waitForAll()
      return response?.starts(with: Data("HTTP/1.1 200".utf8)) ?? false
    }
  }

  private static let halfSentPost = Post(bytes: 100)

  /// A connection on which the server waits for the second half of a body.
  private func halfSentRequest(port: Int) throws -> WireConnection {
    var post = Self.halfSentPost
    post.headers = ["Expect: 100-continue"]
    let connection = try WireConnection(port: port)
    #expect(connection.send(post.head))
    // The route reads the body.
    #expect(connection.receive()?.isEmpty == false)
    #expect(connection.send(post.body.prefix(50)))
    return connection
  }

  @Test("A server on a port in use fails, and its port becomes 0")
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
    "A request with headers up to the limit is accepted, and one more is rejected",
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
    "A request head of bytes up to the limit is accepted, and one more is rejected",
    arguments: [-1, 0, 1])
  func headerBytes(offset: Int) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      // The path counts too; the separator between name and value does not.
      let own = post.headerLines.map { $0.utf8.count - 2 }.reduce(post.path.utf8.count, +)
      let room = QuietLimit.headerBytesMax + offset - own - "X-Filler".utf8.count
      post.headers = ["X-Filler: " + String(repeating: "x", count: room)]
      try await expect(post, isTaken: offset <= 0, port: port, echo)
    }
  }

  private func expect(
    _ post: Post, isTaken: Bool, port: Int, _ echo: EchoServer
  ) async throws {
    let status = try? await post.response(port: port).status
    #expect(isTaken ? status == 200 : (status == nil || status == 400))
    #expect(echo.effects.count == (isTaken ? 1 : 0))
  }

  @Test("The log has one line per request, without address, path, query, body or header")
  func logIsQuiet() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      _ = try await Post(#"{"word":"secret-word"}"#).response(port: port)
      let get = """
        GET /people/secret-name?secret=query HTTP/1.1\r\nHost: localhost\r\n\
        X-Header: secret-header\r\nConnection: close\r\n\r\n
        """
      #expect(try await WireResponse(Wire.exchange([Data(get.utf8)], port: port)).status == 200)
    }
    let lines = echo.log.lines
    #expect(lines.contains { $0.contains("POST /echo 200") })
    #expect(lines.contains { $0.contains("GET /people/{name} 200") })
    let requests = lines.filter { !$0.contains("listening on") }
    for text in ["secret", "127.0.0.1", "::1"] {
      #expect(!requests.contains { $0.contains(text) }, "the log contains \(text)")
    }
  }
}

/// Other tests use the limits by name; this one pins their values.
@Suite("Limits")
struct QuietLimitTests {
  @Test("Every limit has its documented value")
  func numbers() {
    #expect((QuietLimit.connectionsMax, QuietLimit.connectionsPerAddressMax) == (1_024, 256))
    #expect((QuietLimit.idleSeconds, QuietLimit.bodySecondsMax) == (30, 20))
    #expect(QuietLimit.clientIdleSeconds < QuietLimit.idleSeconds)
    #expect((QuietLimit.responseSecondsMax, QuietLimit.responseBytesMin) == (60, 65_536))
    #expect((QuietLimit.unreadBytesMax, QuietLimit.sendBufferBytes) == (64 << 20, 256 << 10))
    #expect((QuietLimit.pipelinedRequestsMax, QuietLimit.pipelinedBytesMax) == (16, 64 << 10))
    #expect((QuietLimit.fileChunkBytes, QuietLimit.unfinishedRequestSeconds) == (64 << 10, 2))
    #expect(QuietLimit.metricsConnectionsMax == 16)
    #expect((FileDescriptors.reserved, FileDescriptors.serversMax) == (192, 3))
    #expect((QuietLimit.headerBytesMax, QuietLimit.headersMax) == (16_384, 100))
    #expect((QuietLimit.lingerSeconds, QuietLimit.shutdownSeconds) == (2, 10))
    #expect((QuietLimit.budgetKeysMax, QuietLimit.proxyPrefixBitsMin) == (100_000, 8))
    #expect(QuietLimit.responseTimesMax == 256)
    #expect((QuietLimit.decoySecondsMax, QuietLimit.retryAfterSeconds) == (5, 30))
    #expect(QuietLimit.netmasksMax == 1_000)
    #expect(StrictJSONValidator.depthMax == 16)
  }
}
