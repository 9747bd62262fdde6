// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Documents that clients have already")
struct UnchangedDocumentsTests {
  private static let tag = EntityTag(of: Data("document".utf8))
  private static let headers = [
    ("content-type", "text/plain"), ("cache-control", "public, max-age=0"),
  ]

  /// Runs a server with one document and a route that counts its requests, and adds up the requests in work.
  private func withServer(
    logger: Logger, isReadable: Bool = true, idleSeconds: Int = QuietLimit.idleSeconds,
    inWork: Counter = Counter(), _ body: (String, Counter) async throws -> Void
  ) async throws {
    let routed = Counter()
    let router = Router.quiet(refusals: .plain, randomness: SystemRandomness())
    router.get("/document") { _, context in
      routed.add()
      for _ in 0..<(context.load?.inWorkCount ?? 0) { inWork.add() }
      let headers: HTTPFields = [
        .contentType: "text/plain", .cacheControl: "public, max-age=0", .eTag: Self.tag.text,
      ]
      return Response(status: .notModified, headers: headers)
    }
    let documents = UnchangedDocuments(
      ["/document": { isReadable ? (Self.tag, Self.headers) : nil }], metrics: nil)
    var limits = ConnectionLimits()
    limits.idleSeconds = idleSeconds
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, limits: limits,
      unchanged: documents, logger: logger)
    let running = Task { try await server.run() }
    try await body("http://127.0.0.1:\(await server.boundPort)/document", routed)
    running.cancel()
    _ = await running.result
  }

  private func logger(_ level: Logger.Level) -> Logger {
    var logger = CollectedLog().logger
    logger.logLevel = level
    return logger
  }

  @Test("A client with the present tag gets 304 without routing, with the headers of the route")
  func unchanged() async throws {
    try await withServer(logger: logger(.error)) { address, routed in
      let tag = ("If-None-Match", Self.tag.text)
      let response = try await LoopbackClient.send("GET", address, headers: [tag])
      #expect(response.status == 304 && response.body.isEmpty && routed.count == 0)
      let other = try await LoopbackClient.send(
        "GET", address, headers: [tag, ("Origin", "https://app.example")])
      #expect(routed.count == 1)
      for name in ["etag", "content-type", "cache-control", "x-content-type-options"] {
        #expect(response.headers[name] == other.headers[name] && response.headers[name] != nil)
      }
    }
  }

  @Test("Requests with another tag, method or condition are routed")
  func routed() async throws {
    try await withServer(logger: logger(.error)) { address, routed in
      let tag = ("If-None-Match", Self.tag.text)
      let requests: [(String, [(String, String)])] = [
        ("GET", []), ("GET", [("If-None-Match", "\"x\"")]), ("HEAD", [tag]),
        ("GET", [tag, ("If-Match", "\"x\"")]),
      ]
      for (number, request) in requests.enumerated() {
        _ = try await LoopbackClient.send(request.0, address, headers: request.1)
        #expect(routed.count == number + 1, "\(request)")
      }
    }
  }

  @Test("Logged requests, and those for a document that cannot be read, are routed")
  func logged() async throws {
    for (level, isReadable) in [(Logger.Level.info, true), (.error, false)] {
      try await withServer(logger: logger(level), isReadable: isReadable) {
        address, routed in
        _ = try await LoopbackClient.send(
          "GET", address, headers: [("If-None-Match", Self.tag.text)])
        #expect(routed.count == 1)
      }
    }
  }

  @Test("A connection with such requests only passes one on before it is taken for an idle one")
  func idle() async throws {
    try await withServer(logger: logger(.error), idleSeconds: 4) { address, routed in
      try await Patience.until {
        let response = try await LoopbackClient.send(
          "GET", address, headers: [("If-None-Match", Self.tag.text)])
        #expect(response.status == 304)
        return routed.count > 0
      }
      #expect(routed.count > 0)
    }
  }

  /// A request on a connection that stays open.
  private func request(_ more: String = "") -> String {
    "GET /document HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(Self.tag.text)\r\n\(more)\r\n"
  }

  private func statuses(_ requests: String, _ address: String) async throws -> [String] {
    let port = try #require(URL(string: address)?.port)
    let reply = try await Wire.exchange([Data(requests.utf8)], port: port)
    return String(decoding: reply, as: UTF8.self).components(separatedBy: "HTTP/1.1 ").dropFirst()
      .map { String($0.prefix(3)) }
  }

  @Test("Requests in one packet are answered in order, and the last one of a connection is routed")
  func pipelined() async throws {
    try await withServer(logger: logger(.error)) { address, routed in
      let others = "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let found = try await statuses(
        request() + others + request() + request() + request("Connection: close\r\n"), address)
      #expect(found == ["304", "404", "304", "304", "304"])
      #expect(routed.count == 1)
      #expect(try await statuses(request("Connection: close\r\n") + request(), address) == ["304"])
    }
  }

  @Test("Requests that are routed are in work, also between others on their connection")
  func inWork() async throws {
    let inWork = Counter()
    try await withServer(logger: logger(.error), inWork: inWork) { address, routed in
      let origin = "Origin: https://app.example\r\n"
      let found = try await statuses(
        request() + request(origin) + request() + request()
          + request(origin + "Connection: close\r\n"), address)
      #expect(found == Array(repeating: "304", count: 5))
      #expect((routed.count, inWork.count) == (2, 2))
    }
  }

  @Test("A request that announces a body is routed, also behind one without")
  func body() async throws {
    try await withServer(logger: logger(.error)) { address, routed in
      let found = try await statuses(
        request("Content-Length: 0\r\n")
          + request("Content-Length: 2\r\nConnection: close\r\n") + "ab", address)
      #expect(found == ["304", "304"] && routed.count == 1)
    }
  }
}
