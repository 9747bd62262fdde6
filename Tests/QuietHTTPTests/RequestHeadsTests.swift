// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("Request heads")
struct RequestHeadsTests {
  private static func page(_ hosts: [String], version: String = "1.1") -> String {
    (["GET /people/a HTTP/\(version)", "Connection: close"] + hosts.map { "Host: \($0)" })
      .joined(separator: "\r\n") + "\r\n\r\n"
  }

  @Test(
    "A request with one Host is served; without one, or with two, it is 400 and logged with the cause",
    arguments: [
      (page(["a"]), 200), (page([""]), 200), (page([]), 400), (page(["a", "a"]), 400),
      (page(["a", "b"]), 400), (page(["a, b"]), 400), (page([], version: "1.0"), 200),
      (page(["a", "b"], version: "1.0"), 400),
    ])
  func host(request: String, status: Int) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let reply = try await Wire.exchange([Data(request.utf8)], port: port)
      #expect(try WireResponse(reply).status == status)
      let refusals = echo.log.lines.filter { $0.contains("- - 400") && $0.contains("invalidHost") }
      #expect(refusals.count == (status == 400 ? 1 : 0))
    }
  }

  @Test(
    "A request that the parser refuses is logged with the cause and without its content",
    arguments: ["GET /secret HTTP/1.1\r\nbad header\r\n\r\n", "SECRET\r\n\r\n"])
  func parser(request: String) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      _ = try await Wire.exchange([Data(request.utf8)], port: port)
      #expect(echo.log.lines.count { $0.contains("- - 400") && $0.contains("cause") } == 1)
      #expect(!echo.log.lines.contains { $0.lowercased().contains("secret") })
    }
  }

  /// The head of a POST request that waits for `100 Continue`.
  private static func waiting(_ post: Post) -> Data {
    var post = post
    post.headers = ["Expect: 100-Continue"]
    return post.head
  }

  @Test("A client that waits for 100 Continue gets it, and its response after the body")
  func continues() async throws {
    try await EchoServer().running { port async throws in
      let post = Post(#"{"word":"hello"}"#)
      let (first, rest) = try await Wire.aside {
        let client = try WireConnection(port: port)
        defer { client.close() }
        #expect(client.send(Self.waiting(post)))
        let first = client.receive() ?? Data()
        #expect(client.send(post.body))
        var rest = Data()
        while let part = client.receive(), !part.isEmpty { rest.append(part) }
        return (first, rest)
      }
      #expect(String(decoding: first, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
      let response = try WireResponse(rest)
      #expect((response.status, response.json["word"]) == (200, "hello"))
    }
  }

  @Test("A body that would be refused is not asked for")
  func refused() async throws {
    try await EchoServer().running { port async throws in
      var post = Post("")
      post.announced = EchoServer.bodyBytesMax + 1
      let reply = try await Wire.exchange([Self.waiting(post)], port: port)
      #expect(try WireResponse(reply).status == 413)
    }
  }
}
