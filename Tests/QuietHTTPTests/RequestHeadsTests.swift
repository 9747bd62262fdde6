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
    "A POST whose body has no certain end, or a length that no route takes, is refused at once",
    arguments: [
      (["Transfer-Encoding: gzip, chunked"], [400]), (["Transfer-Encoding: chunked, gzip"], [400]),
      (["Transfer-Encoding: gzip"], [400]), (["Transfer-Encoding: identity"], [400]),
      (["Transfer-Encoding:", "Content-Length: 2"], [400]), (["Transfer-Encoding:"], [400]),
      (["Transfer-Encoding: chunked", "Content-Length: 2"], [400]),
      (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], [400]),
      (["Content-Length: 2", "Content-Length: 3"], [400]), (["Content-Length: +2"], [400]),
      (["Content-Length: 9223372036854775807"], [413]),
      (["Content-Length: 9223372036854775808"], [400, 413]),
      (["Content-Length: 18446744073709551615"], [400, 413]),
      (["Content-Length: 18446744073709551616"], [400, 413]),
      (["Content-Length: 99999999999999999999999999"], [400, 413]),
    ] as [([String], [Int])])
  func bodyLength(headers: [String], statuses: [Int]) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      // No body follows: a server that waits for it would not answer.
      let head =
        (["POST /echo HTTP/1.1", "Host: a", "Content-Type: application/json"] + headers)
        .joined(separator: "\r\n") + "\r\n\r\n"
      let reply = try await Wire.exchange([Data(head.utf8)], port: port)
      let status = try WireResponse(reply).status
      #expect(statuses.contains(status), "\(status)")
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
