// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Responses")
struct ResponseTests {
  @Test("A length up to a bucket is padded to it, and one more to the next bucket")
  func buckets() {
    for (bucket, next) in zip(ResponseBucket.bytes, ResponseBucket.bytes.dropFirst()) {
      #expect(ResponseBucket.holding(bucket - 1) == bucket)
      #expect(ResponseBucket.holding(bucket) == bucket)
      #expect(ResponseBucket.holding(bucket + 1) == next)
    }
    #expect(ResponseBucket.holding((64 << 10) + 1) == 128 << 10)
  }

  @Test("JSON of any length is padded to exactly the length of a bucket")
  func padding() throws {
    for count in Array(0...1_100) + [4_000, 70_000] {
      let word = String(repeating: "w", count: count)
      let response = try PaddedResponse(["word": word]).response(padding: SystemRandomness())
      let length = try #require(response.body.contentLength)
      #expect(ResponseBucket.holding(length) == length)
      #expect(response.headers[.contentLength] == "\(length)")
    }
  }

  @Test("A longer head makes a body shorter by as many bytes, with the digits of its length")
  func room() {
    for extra in 0...60 {
      for count in [0, 500, 900, 1_000, 1_020, 4_000, 16_384, 65_536] {
        let room = ResponseBucket.room(for: count, atLeast: 0, extraHeadBytes: extra)
        let total = room + "\(room)".count + extra
        #expect(room >= count)
        let lengths = ResponseBucket.bytes + [128 << 10]
        // 999 bytes have a digit less than 1,000, so one length cannot be reached.
        #expect(lengths.contains { abs($0 + "\($0)".count - total) <= (room == 1_000 ? 1 : 0) })
      }
      let room = ResponseBucket.room(for: 100, atLeast: 4_096, extraHeadBytes: extra)
      #expect(room + extra == 4_096)
    }
  }

  @Test("Padding is random base64 next to the content")
  func paddingIsRandom() async throws {
    try await EchoServer().running { port async throws in
      let first = try await Post(#"{"word":"hello"}"#).response(port: port)
      let second = try await Post(#"{"word":"hello"}"#).response(port: port)
      #expect(first.json["word"] == "hello")
      let paddings = [first, second].compactMap {
        $0.json["padding"].flatMap { Data(base64Encoded: $0) }
      }
      #expect(paddings.count == 2)
      #expect(Set(paddings).count == 2)
    }
  }

  @Test("A response that is not a JSON object cannot be created")
  func notAnObject() {
    #expect(throws: EncodingError.self) { try PaddedResponse(["a", "b"]) }
    #expect(throws: Never.self) { try PaddedResponse([String: String]()) }
  }

  @Test("An empty object is padded")
  func emptyObject() async throws {
    let response = try PaddedResponse([String: String]()).response(padding: SystemRandomness())
    #expect(response.body.contentLength == ResponseBucket.bytes[0])
  }

  @Test("All responses have the same headers in the same order, with no-store and nosniff")
  func headers() async throws {
    try await EchoServer().running { port async throws in
      let good = try await Post(#"{"word":"hello"}"#).response(port: port)
      let bad = try await Post("{").response(port: port)
      let large = try await Post(bytes: 300).response(port: port)
      #expect(good.headers["content-type"] == "application/json; charset=utf-8")
      #expect(good.headers["cache-control"] == "no-store")
      #expect(good.headers["x-content-type-options"] == "nosniff")
      #expect(good.headers["server"] == nil)
      #expect(bad.headerNames == good.headerNames)
      #expect(bad.body.count == good.body.count)
      #expect(large.body.count == good.body.count)
    }
  }

  @Test("A storage error is returned as 503 with Retry-After and without its reason")
  func storageFails() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let response = try await Post(#"{"word":"storage"}"#).response(port: port)
      #expect(response.status == 503)
      #expect(response.headers["retry-after"] == "\(QuietLimit.retryAfterSeconds)")
      #expect(
        response.json["message"] == "The server is busy or cannot use its storage; retry later.")
      #expect(echo.log.lines.contains { $0.contains("request not processed") })
    }
  }

  @Test(
    "An internal error is returned as 500 without its reason",
    arguments: [
      "POST /echo", "GET /broken",
    ])
  func internalError(_ line: String) async throws {
    try await EchoServer().running { port async throws in
      let post = Post(#"{"word":"fault"}"#)
      var head = String(decoding: post.head, as: UTF8.self)
      head = head.replacing("POST /echo", with: line)
      let response = try await WireResponse(
        Wire.exchange([Data(head.utf8) + post.body], port: port))
      #expect(response.status == 500)
      #expect(response.json["message"] == "An internal error occurred; try again later.")
      #expect(!String(decoding: response.body, as: UTF8.self).contains("Error"))
    }
  }

  @Test("An unknown path gets a padded 404")
  func notFound() async throws {
    try await EchoServer().running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      post.path = "/nothing"
      let response = try await post.response(port: port)
      #expect(response.status == 404)
      #expect(response.body.count == ResponseBucket.bytes[0])
      #expect(response.headers["cache-control"] == "no-store")
    }
  }

  @Test("HEAD gets the headers of GET without a body", arguments: ["/people/a", "/no"])
  func head(_ path: String) async throws {
    try await EchoServer().running { port async throws in
      func response(_ method: String) async throws -> WireResponse {
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        return try await WireResponse(Wire.exchange([Data(head.utf8)], port: port))
      }
      let (get, head) = (try await response("GET"), try await response("HEAD"))
      #expect(head.status == get.status)
      #expect(head.headerNames == get.headerNames)
      #expect(head.headers["content-length"] == "\(get.body.count)")
      #expect(head.body.isEmpty)
    }
  }

  @Test("Pages of the allowed origin can read responses and errors")
  func crossOrigin() async throws {
    try await EchoServer(allowedOrigin: "https://app.example").running { port async throws in
      var post = Post("{")
      post.headers = ["Origin: https://app.example"]
      let response = try await post.response(port: port)
      #expect(response.headers["access-control-allow-origin"] == "https://app.example")
      let asked = Data(
        """
        OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\n\
        Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n
        """.utf8)
      let leave = try await WireResponse(Wire.exchange([asked], port: port))
      #expect(leave.headers["access-control-allow-methods"] == "GET, POST")
      #expect(leave.headers["access-control-allow-headers"]?.contains("x-chaff") == true)
    }
  }
}

@Suite("The text of padding")
struct PaddingTextTests {
  @Test("Padding is encoded as Foundation encodes base64", arguments: [0, 1, 2, 16, 768])
  func base64(groups: Int) {
    for shift in 0...UInt8.max {
      let bytes = (0..<groups * 3).map { UInt8(truncatingIfNeeded: $0 &* 89) &+ shift }
      var buffer = ByteBuffer(string: "before")
      PaddingText.write(bytes, to: &buffer)
      #expect(String(buffer: buffer) == "before" + Data(bytes).base64EncodedString())
    }
  }
}
