import Foundation
import Hummingbird
import QuietHTTP
import TestSupport
import Testing
import World

@Suite("What an answer looks like on the wire")
struct AnswerTests {
  @Test("A length one below a bucket and one on it fall into it, one above into the next")
  func buckets() {
    for (bucket, next) in zip(AnswerBucket.bytes, AnswerBucket.bytes.dropFirst()) {
      #expect(AnswerBucket.holding(bucket - 1) == bucket)
      #expect(AnswerBucket.holding(bucket) == bucket)
      #expect(AnswerBucket.holding(bucket + 1) == next)
    }
    #expect(AnswerBucket.holding((64 << 10) + 1) == 128 << 10)
  }

  @Test("Every length of content gives JSON of exactly a bucket's length that still says the same")
  func padding() throws {
    for count in Array(0...1_100) + [4_000, 70_000] {
      let word = String(repeating: "w", count: count)
      let response = try QuietAnswer(["word": word]).response(padding: SystemRandomness())
      let length = try #require(response.body.contentLength)
      #expect(AnswerBucket.holding(length) == length)
      #expect(response.headers[.contentLength] == "\(length)")
    }
  }

  @Test("Padding is base64 beside the content and never the same twice")
  func paddingIsRandom() async throws {
    try await EchoServer().running { port async throws in
      let first = try await Post(#"{"word":"hello"}"#).answer(port: port)
      let second = try await Post(#"{"word":"hello"}"#).answer(port: port)
      #expect(first.json["word"] == "hello")
      let paddings = [first, second].compactMap {
        $0.json["padding"].flatMap { Data(base64Encoded: $0) }
      }
      #expect(paddings.count == 2)
      #expect(Set(paddings).count == 2)
    }
  }

  @Test("An answer that is no JSON object is refused where it is made")
  func notAnObject() {
    #expect(throws: EncodingError.self) { try QuietAnswer(["a", "b"]) }
    #expect(throws: Never.self) { try QuietAnswer([String: String]()) }
  }

  @Test("An empty object can be padded, too")
  func emptyObject() async throws {
    let response = try QuietAnswer([String: String]()).response(padding: SystemRandomness())
    #expect(response.body.contentLength == AnswerBucket.bytes[0])
  }

  @Test("Answers are not kept, not sniffed, and all have the same headers in the same order")
  func headers() async throws {
    try await EchoServer().running { port async throws in
      let good = try await Post(#"{"word":"hello"}"#).answer(port: port)
      let bad = try await Post("{").answer(port: port)
      let large = try await Post(bytes: 300).answer(port: port)
      #expect(good.headers["content-type"] == "application/json; charset=utf-8")
      #expect(good.headers["cache-control"] == "no-store")
      #expect(good.headers["x-content-type-options"] == "nosniff")
      #expect(good.headers["server"] == nil)
      #expect(bad.headerNames == good.headerNames)
      #expect(bad.body.count == good.body.count)
      #expect(large.body.count == good.body.count)
    }
  }

  @Test("Where storage fails the client is told to come back, not why")
  func storageFails() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let answer = try await Post(#"{"word":"storage"}"#).answer(port: port)
      #expect(answer.status == 503)
      #expect(answer.headers["retry-after"] == "\(QuietLimit.retryAfterSeconds)")
      #expect(answer.json["message"] == "The server cannot take this now; try again later.")
      #expect(echo.log.lines.contains { $0.contains("storage failed") })
    }
  }

  @Test(
    "Our own fault is answered with 500 and without what went wrong inside",
    arguments: [
      "POST /echo", "GET /broken",
    ])
  func ourFault(_ line: String) async throws {
    try await EchoServer().running { port async throws in
      let post = Post(#"{"word":"fault"}"#)
      var head = String(decoding: post.head, as: UTF8.self)
      head = head.replacing("POST /echo", with: line)
      let answer = try await WireAnswer(
        Wire.exchange([Data(head.utf8) + post.body], port: port))
      #expect(answer.status == 500)
      #expect(answer.json["message"] == "The server failed; the fault is not yours.")
      #expect(!String(decoding: answer.body, as: UTF8.self).contains("Error"))
    }
  }

  @Test("A path that is not there is answered like everything else")
  func notFound() async throws {
    try await EchoServer().running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      post.path = "/nothing"
      let answer = try await post.answer(port: port)
      #expect(answer.status == 404)
      #expect(answer.body.count == AnswerBucket.bytes[0])
      #expect(answer.headers["cache-control"] == "no-store")
    }
  }

  @Test("HEAD gets the headers of GET and not one byte of a body", arguments: ["/people/a", "/no"])
  func head(_ path: String) async throws {
    try await EchoServer().running { port async throws in
      func answer(_ method: String) async throws -> WireAnswer {
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        return try await WireAnswer(Wire.exchange([Data(head.utf8)], port: port))
      }
      let (get, head) = (try await answer("GET"), try await answer("HEAD"))
      #expect(head.status == get.status)
      #expect(head.headerNames == get.headerNames)
      #expect(head.headers["content-length"] == "\(get.body.count)")
      #expect(head.body.isEmpty)
    }
  }

  @Test("Pages of the allowed origin may ask, and refusals reach them, too")
  func crossOrigin() async throws {
    try await EchoServer(allowedOrigin: "https://app.example").running { port async throws in
      var post = Post("{")
      post.headers = ["Origin: https://app.example"]
      let answer = try await post.answer(port: port)
      #expect(answer.headers["access-control-allow-origin"] == "https://app.example")
      let asked = Data(
        """
        OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\n\
        Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n
        """.utf8)
      let leave = try await WireAnswer(Wire.exchange([asked], port: port))
      #expect(leave.headers["access-control-allow-methods"] == "GET, POST")
      #expect(leave.headers["access-control-allow-headers"]?.contains("x-chaff") == true)
    }
  }
}
